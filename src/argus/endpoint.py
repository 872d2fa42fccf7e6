"""Hold the default address of an OpenAI-compatible endpoint, and the variable of its key."""

BASE_URL = "https://api.openai.com/v1"
# The environment variable that holds its key.
API_KEY_ENV = "OPENAI_API_KEY"
