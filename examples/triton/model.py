"""A toy language model for Triton's python backend: it takes as long as its lengths say.

No text goes in or comes out. INPUT_TOKENS is the prompt's length, ANSWER_TOKENS what a free answer
would take and MAX_TOKENS the cap; OUTPUT_TOKENS is the smaller of the two. An answer of fewer than
0 tokens is how a client asks for an error.
"""

import json
import time

import triton_python_backend_utils as pb_utils

# How often a sleeping execution asks whether its client has gone. Each question crosses a process
# boundary, so finer polling would cost more CPU than the early end of a cancelled request saves.
POLL_S = 0.025


class TritonPythonModel:
    def initialize(self, args):
        given = json.loads(args["model_config"])["parameters"]
        self.base_s = float(given["base_ms"]["string_value"]) / 1e3
        self.per_input_s = float(given["per_input_token_us"]["string_value"]) / 1e6
        self.per_output_s = float(given["per_output_token_us"]["string_value"]) / 1e6

    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        asked, cap = tensor(request, "ANSWER_TOKENS"), tensor(request, "MAX_TOKENS")
        given = min(asked, cap, key=number)
        n_in, n_out = number(tensor(request, "INPUT_TOKENS")), number(given)
        if n_out < 0:
            return pb_utils.InferenceResponse(error=pb_utils.TritonError("an error was asked for"))
        service_s = self.base_s + n_in * self.per_input_s + n_out * self.per_output_s
        if sleep_unless_cancelled(request, time.monotonic() + service_s):
            # The answer is one of the inputs, handed over as it is: a tensor made from an array
            # of numpy 2 would have the wrong size, since the stub is built against numpy 1.
            output = pb_utils.Tensor.from_dlpack("OUTPUT_TOKENS", given.to_dlpack())
            return pb_utils.InferenceResponse(output_tensors=[output])
        gone = pb_utils.TritonError("the client has gone", pb_utils.TritonError.CANCELLED)
        return pb_utils.InferenceResponse(error=gone)


def tensor(request, name):
    return pb_utils.get_input_tensor_by_name(request, name)


def number(one):
    return int(one.as_numpy().ravel()[0])


def sleep_unless_cancelled(request, until):
    """True when the whole time has passed, False as soon as the client is seen to have gone."""
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(left, POLL_S))
        if left > POLL_S and request.is_cancelled():
            return False
    return True
