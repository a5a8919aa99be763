"""`torch.utils.model_zoo`: the older name of a function of `torch.hub`."""

from torch.hub import load_state_dict_from_url, tqdm

load_url = load_state_dict_from_url
