"""What a receiver answers."""

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse


def partial_success(rejected: int, message: str) -> ExportTraceServiceResponse:
    """The answer of a receiver: empty when all was taken, else how many spans were not and why."""
    answer = ExportTraceServiceResponse()
    if rejected:
        answer.partial_success.rejected_spans = rejected
        answer.partial_success.error_message = message
    return answer
