"""A toy language model for Triton's python backend: it takes as long as its lengths say.

No text goes in or comes out. INPUT_TOKENS is the prompt's length, ANSWER_TOKENS what a free answer
would take and MAX_TOKENS the cap; OUTPUT_TOKENS is the smaller of the two.
"""

import json
import time

import numpy
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
        n_out = min(number(request, "ANSWER_TOKENS"), number(request, "MAX_TOKENS"))
        n_in = number(request, "INPUT_TOKENS")
        service_s = self.base_s + n_in * self.per_input_s + n_out * self.per_output_s
        if sleep_unless_cancelled(request, time.monotonic() + service_s):
            output = pb_utils.Tensor("OUTPUT_TOKENS", numpy.array([n_out], dtype=numpy.int32))
            return pb_utils.InferenceResponse(output_tensors=[output])
        gone = pb_utils.TritonError("the client has gone", pb_utils.TritonError.CANCELLED)
        return pb_utils.InferenceResponse(error=gone)


def number(request, name):
    return int(pb_utils.get_input_tensor_by_name(request, name).as_numpy()[0])


def sleep_unless_cancelled(request, until):
    """True when the whole time has passed, False as soon as the client is seen to have gone."""
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(left, POLL_S))
        if left > POLL_S and request.is_cancelled():
            return False
    return True
