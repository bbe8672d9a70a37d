"""A streaming toy for Triton's python backend: one response a token, and an empty last one."""

import json
import time

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        given = json.loads(args["model_config"])["parameters"]
        self.per_output_s = float(given["per_output_token_us"]["string_value"]) / 1e6

    def execute(self, requests):
        for request in requests:
            self.answer(request)

    def answer(self, request):
        sender = request.get_response_sender()
        asked, cap = tensor(request, "ANSWER_TOKENS"), tensor(request, "MAX_TOKENS")
        given = min(asked, cap, key=number)
        for _ in range(number(given)):
            if request.is_cancelled():
                break
            time.sleep(self.per_output_s)
            output = pb_utils.Tensor.from_dlpack("OUTPUT_TOKENS", given.to_dlpack())
            sender.send(pb_utils.InferenceResponse(output_tensors=[output]))
        sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)


def tensor(request, name):
    return pb_utils.get_input_tensor_by_name(request, name)


def number(one):
    return int(one.as_numpy()[0])
