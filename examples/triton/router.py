"""A router in Triton's python backend: it calls one model, and a second one for long prompts.

The request id and the trace are handed on: without them the calls would leave no trace at all.
"""

import json

import triton_python_backend_utils as pb_utils

# Input tokens from which the second model is asked too.
LONG = 1_000


class TritonPythonModel:
    def initialize(self, args):
        given = json.loads(args["model_config"])["parameters"]
        self.models = [given[name]["string_value"] for name in ("first", "second")]

    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        length = pb_utils.get_input_tensor_by_name(request, "INPUT_TOKENS")
        is_long = int(length.as_numpy()[0]) >= LONG
        for model in self.models if is_long else self.models[:1]:
            answer = self.call(request, model)
            if answer.has_error():
                return pb_utils.InferenceResponse(error=answer.error())
        (output,) = answer.output_tensors()
        # Handed over as it is, for the reason that model.py gives.
        output = pb_utils.Tensor.from_dlpack("OUTPUT_TOKENS", output.to_dlpack())
        return pb_utils.InferenceResponse(output_tensors=[output])

    def call(self, request, model):
        asked = pb_utils.InferenceRequest(
            model_name=model,
            request_id=request.request_id(),
            inputs=request.inputs(),
            requested_output_names=["OUTPUT_TOKENS"],
            trace=request.trace(),
        )
        return asked.exec()
