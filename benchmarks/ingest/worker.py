"""A worker in a process of its own: counts the batches that it is told, and says how long it took.

One line in, batch ids with spaces between them; one line out, JSON.
"""

import json
import os
import resource
import sys
import time


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "controlplane.settings"
    import django

    django.setup()
    from ingest.services import process

    print("{}", flush=True)
    for line in sys.stdin:
        begin = time.perf_counter()
        for pk in map(int, line.split()):
            process(pk)
        taken = {
            "seconds": time.perf_counter() - begin,
            "cpu_s": time.process_time(),
            "most_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
        print(json.dumps(taken), flush=True)


if __name__ == "__main__":
    main()
