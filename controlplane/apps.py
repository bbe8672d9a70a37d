from django.apps import AppConfig


class HallConfig(AppConfig):
    name = "controlplane"
    verbose_name = "The hall"

    def ready(self) -> None:
        # Whatever starts Django has our Celery app current, so `.delay()` meets no default one.
        from controlplane.celery import app

        app.set_default()
