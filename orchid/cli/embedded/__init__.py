"""The whole product on one machine: PostgreSQL, web, worker and edge under one supervisor."""
