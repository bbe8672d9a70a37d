"""Django's settings. Safe with nothing set; what a site may change is in `env.py`."""

from csp.constants import NONE, SELF

from controlplane import env

ENV = env.read()
BASE_DIR = env.ROOT
VAR_DIR = ENV.var
KEYS_DIR = ENV.keys

DEBUG = ENV.debug
SECRET_KEY = env.secret_key(ENV.secret_key_file)
ALLOWED_HOSTS = ENV.allowed_hosts
CSRF_TRUSTED_ORIGINS = ENV.trusted_origins

INSTALLED_APPS = [
    "controlplane",
    "accounts",
    "policies",
    "ingest",
    "gates",
    "releases",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.mfa",
    "allauth.usersessions",
    "django_htmx",
    "csp",
    "rest_framework",
    "drf_spectacular",
]

MIDDLEWARE = [
    "controlplane.middleware.RequestIdentity",
    "controlplane.middleware.Measured",
    "controlplane.middleware.SoundAddress",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "controlplane.staticfiles.StaticFiles",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "accounts.session_rules.SessionRules",
    "accounts.second_factor.SecondFactor",
    "allauth.account.middleware.AccountMiddleware",
    "controlplane.middleware.ProblemPages",
]

ROOT_URLCONF = "controlplane.urls"
WSGI_APPLICATION = "controlplane.wsgi.application"
ASGI_APPLICATION = "controlplane.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        # Before each app's own templates, so that django.contrib's never win.
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "controlplane.context.navigation",
            ],
            "builtins": ["controlplane.templatetags.orchid"],
        },
    }
]

# The database. `ENV.database` is libpq's own vocabulary; Django wants three of its names apart.
_LIBPQ = dict(ENV.database)
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": _LIBPQ.pop("dbname"),
        "USER": _LIBPQ.pop("user", ""),
        "PASSWORD": _LIBPQ.pop("password", ""),
        "HOST": _LIBPQ.pop("host", ""),
        "PORT": _LIBPQ.pop("port", ""),
        # One from before the server's restart is found and replaced, not handed to a request.
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {
            **_LIBPQ,
            # Threads of a web process share a pool; a worker's child keeps one connection. The pool
            # gives up on a lost one soon, and opens another when it is asked for: its own pauses
            # grow to minutes, long after the server is back.
            **(
                {"pool": {"min_size": 1, "max_size": 12, "timeout": 5, "reconnect_timeout": 5}}
                if ENV.database_pool
                else {}
            ),
        },
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# What came in: how long it is kept, and how many values a dimension keeps.
INGEST = ENV.ingest

# What the edges' entry holds open, and whom it believes about client certificates.
EDGES = ENV.edges

# People
AUTH_USER_MODEL = "accounts.User"
LOGIN_URL = "accounts:login"
LOGIN_REDIRECT_URL = "hall:dashboard"
LOGOUT_REDIRECT_URL = "accounts:login"
PASSWORD_RESET_TIMEOUT = 3600
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend"]
SESSION_COOKIE_AGE = ENV.people.session_s
SESSION_IDLE_S = ENV.people.idle_s
CONFIRMED_FOR_S = ENV.people.confirmed_s
SECOND_FACTOR_ROLES = ENV.people.second_factor_roles
# People's further factors, and who else vouches for them: django-allauth, behind pages of ours.
SIGN_ON = {one.id: one for one in ENV.people.providers}
ACCOUNT_ADAPTER = "accounts.adapters.PeopleAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"
# Guesses and resets are counted in the database, for every process: accounts/sign_in.py, resets.py.
ACCOUNT_RATE_LIMITS = False
ACCOUNT_PREVENT_ENUMERATION = False
ACCOUNT_REAUTHENTICATION_METHODS = {"password", "mfa"}
ACCOUNT_REAUTHENTICATION_TIMEOUT = ENV.people.confirmed_s
ACCOUNT_REAUTHENTICATION_REQUIRED = SOCIALACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_FORMS = {"reauthenticate": "accounts.sign_in.ConfirmPasswordForm"}
SOCIALACCOUNT_ADAPTER = "accounts.adapters.SignOnAdapter"
SOCIALACCOUNT_EMAIL_AUTHENTICATION = SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True
SOCIALACCOUNT_PROVIDERS = {
    "openid_connect": {
        "OAUTH_PKCE_ENABLED": True,
        "APPS": [
            {
                "provider_id": one.id,
                "name": one.name,
                "client_id": one.client_id,
                "secret": one.secret,
                "settings": {"server_url": one.issuer},
            }
            for one in ENV.people.providers
        ],
    }
}
MFA_ADAPTER = "accounts.adapters.FactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_FORMS = {
    "authenticate": "accounts.sign_in.CodeForm",
    "reauthenticate": "accounts.sign_in.ConfirmCodeForm",
    "add_webauthn": "accounts.security_keys.AddKeyForm",
    "authenticate_webauthn": "accounts.security_keys.KeyForm",
    "reauthenticate_webauthn": "accounts.security_keys.ConfirmKeyForm",
}
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_TOTP_ISSUER = "Orchid"
MFA_TOTP_TOLERANCE = 1
# Browsers let plain http speak to a security key on `localhost` alone.
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not ENV.secure_cookies
# What TOTP secrets are kept under.
FACTOR_KEY = env.secret_key(ENV.secret_key_file.with_name("factor-key"))

EMAIL_BACKEND = (
    "django.core.mail.backends.smtp.EmailBackend"
    if ENV.email_host
    # Without a mail server a message becomes a file that the operator can read and pass on.
    else "django.core.mail.backends.filebased.EmailBackend"
)
EMAIL_HOST = ENV.email_host
EMAIL_FILE_PATH = VAR_DIR / "mail"
EMAIL_TIMEOUT = 10  # seconds
# Where this installation is reached: what messages link to.
SITE_URL = ENV.url
# Whether a webhook may lie on this machine or inside its networks.
WEBHOOKS_PRIVATE = ENV.webhooks_private
# What webhooks' secrets are kept under.
WEBHOOK_KEY = env.secret_key(ENV.secret_key_file.with_name("webhook-key"))
DEFAULT_FROM_EMAIL = "Orchid <orchid@localhost>"

# What browsers are told
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = ENV.secure_cookies
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "controlplane.pages.csrf_failed"
SECURE_SSL_REDIRECT = False  # the proxy that ends TLS does this; behind it we see plain HTTP
SECURE_HSTS_SECONDS = 31_536_000 if ENV.secure_cookies else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if ENV.secure_cookies else None
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# Nothing inline anywhere, so no nonce is needed: scripts and styles are files of ours.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "manifest-src": [SELF],
    }
}

# Static files: served by WhiteNoise straight from the finders, so nothing has to be collected.
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "controlplane.staticfiles.PackagedFinder",
]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

# Language and time
LANGUAGE_CODE = "en-gb"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"

# Machines
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "accounts.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["controlplane.parsing.StrictJSON"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "controlplane.errors.api_exception_handler",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
    "COERCE_DECIMAL_TO_STRING": True,
    # `format` names the format of a delivered file; every answer is JSON whatever it says.
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Orchid",
    "DESCRIPTION": "Generations, gates, decisions and publications of an inference fleet.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "DEFAULT_GENERATOR_CLASS": "controlplane.schema.OneAtATime",
}
DATA_UPLOAD_MAX_MEMORY_SIZE = (
    64 * 1024 * 1024
)  # a batch of records; rooms set their own lower limits

# What the inbox holds before senders are asked to wait
INBOX = ENV.inbox

# Work behind the pages
CELERY_BROKER_URL = ENV.broker_url
if ENV.broker_url.startswith("pgmq://"):
    CELERY_BROKER_TRANSPORT = "controlplane.broker:Transport"
CELERY_BROKER_TRANSPORT_OPTIONS = env.broker_options(ENV.broker_url)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_DEFAULT_QUEUE = "hall"
CELERY_TASK_ROUTES = {
    # Checks of servers stand in no line behind deliveries: when many wait, they matter most.
    "ingest.poll_*": {"queue": "servers"},
    "ingest.*": {"queue": "ingest"},
    "gates.*": {"queue": "gates"},
    "releases.*": {"queue": "releases"},
}
# Named here, so that a worker started without -Q takes from all of them in turn.
CELERY_TASK_QUEUES: dict[str, dict[str, str]] = {
    name: {"exchange": name, "routing_key": name}
    for name in ("hall", "ingest", "servers", "gates", "releases")
}
CELERY_TASK_IGNORE_RESULT = True
# A task is taken off the queue when it has ended, so a killed worker loses nothing.
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# pgmq has no remote control, and its queue names refuse long host names.
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TASK_TIME_LIMIT = 300

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    # Ticks come every second; what they did is in rows, and what failed still shows.
    "loggers": {
        name: {"level": "WARNING"}
        for name in ("celery.beat", "celery.worker.strategy", "celery.app.trace", "httpx")
    },
}
