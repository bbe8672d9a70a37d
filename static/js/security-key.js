// A form with data-security-key asks the browser for a key (`create` or `get`) and sends what the
// key said. The options came from us as JSON; bytes are base64url on both ways.
(() => {
  "use strict";
  const form = document.querySelector("form[data-security-key]");
  if (!form) return;
  const options = JSON.parse(document.getElementById("security-key-options").textContent).publicKey;
  const fault = form.querySelector("[data-fault]");

  const say = (text) => {
    fault.textContent = text;
    fault.hidden = false;
  };

  const ask = () =>
    form.dataset.securityKey === "create"
      ? navigator.credentials.create({
          publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options),
        })
      : navigator.credentials.get({
          publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options),
        });

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!window.PublicKeyCredential?.parseCreationOptionsFromJSON) {
      say("This browser speaks to no security key here: it needs https, or the name localhost.");
      return;
    }
    try {
      form.elements.credential.value = JSON.stringify((await ask()).toJSON());
      form.submit();
    } catch (error) {
      say(`The key said nothing that counts (${error.name}). Try again, or use another way.`);
    }
  });
})();
