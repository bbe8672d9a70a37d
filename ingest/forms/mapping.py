"""Which route a model stands for."""

from django import forms


class MappingForm(forms.Form):
    """A model and its route; `version` is of the mapping that the page showed, if it showed one."""

    model = forms.CharField(max_length=256)
    route = forms.CharField(max_length=80)
    source = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)
    version = forms.IntegerField(required=False, min_value=1, max_value=2**31 - 1)
