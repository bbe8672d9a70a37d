"""`orchid demo check`: the demo's whole story, played without a person.

`steps` is the story as a table and plays it, `opening`, `decision` and `aftermath` are its acts,
`site` starts and stops the product, `doors` asks it as people and machines do, `browser` is
Chromium.
"""
