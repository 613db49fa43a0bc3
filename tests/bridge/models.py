# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Networks with random weights that the bridge is tried on: a dozen from `transformers` (small configurations), a dozen by hand.

`MODELS` maps a name to a function that returns (module, list of argument tuples). Every call of it draws fresh inputs. The
functions need `torch`; those in `TRANSFORMERS` need `transformers` too.
"""
import torch
from torch import nn
from torch.nn import functional as F


def tokens(batch, length, vocabulary=500):
    return torch.randint(0, vocabulary, (batch, length))


# ------------------------------------------------------------------------------------------------------ transformers


def bert():
    from transformers import BertConfig, BertModel

    config = BertConfig(hidden_size=128, num_hidden_layers=2, num_attention_heads=4, intermediate_size=256, vocab_size=500)
    return BertModel(config), [(tokens(2, 16),)]


def distilbert():
    from transformers import DistilBertConfig, DistilBertModel

    return DistilBertModel(DistilBertConfig(dim=128, n_layers=2, n_heads=4, hidden_dim=256, vocab_size=500)), [(tokens(2, 16),)]


def gpt2():
    from transformers import GPT2Config, GPT2Model

    config = GPT2Config(n_embd=128, n_layer=2, n_head=4, vocab_size=500, bos_token_id=1, eos_token_id=2)
    return GPT2Model(config), [(tokens(2, 16),)]


def llama():
    from transformers import LlamaConfig, LlamaModel

    config = LlamaConfig(
        hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, vocab_size=500
    )
    return LlamaModel(config), [(tokens(2, 16),)]


def qwen():
    from transformers import Qwen2Config, Qwen2Model

    config = Qwen2Config(
        hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, vocab_size=500
    )
    return Qwen2Model(config), [(tokens(2, 16),)]


def mixtral():
    from transformers import MixtralConfig, MixtralModel

    config = MixtralConfig(
        hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        vocab_size=500, num_local_experts=4,
    )
    return MixtralModel(config), [(tokens(2, 16),)]


def t5():
    from transformers import T5Config, T5Model

    model = T5Model(T5Config(d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, vocab_size=500))
    return _Keywords(model, "input_ids", "decoder_input_ids"), [(tokens(2, 16), tokens(2, 8))]


def whisper():
    from transformers import WhisperConfig, WhisperModel

    config = WhisperConfig(
        d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=128,
        decoder_ffn_dim=128, vocab_size=500, num_mel_bins=20, max_source_positions=50, max_target_positions=50,
        pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=3,
    )
    return _Keywords(WhisperModel(config), "input_features", "decoder_input_ids"), [(torch.randn(2, 20, 100), tokens(2, 8))]


def vit():
    from transformers import ViTConfig, ViTModel

    config = ViTConfig(
        hidden_size=128, num_hidden_layers=2, num_attention_heads=4, intermediate_size=256, image_size=32, patch_size=8
    )
    return ViTModel(config), [(torch.randn(2, 3, 32, 32),)]


def clip():
    from transformers import CLIPConfig, CLIPModel

    text = dict(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, vocab_size=500, eos_token_id=2)
    vision = dict(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, image_size=32, patch_size=8)
    model = CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=32))
    return _Keywords(model, "input_ids", "pixel_values"), [(tokens(2, 8), torch.randn(2, 3, 32, 32))]


def mamba():
    from transformers import MambaConfig, MambaModel

    return MambaModel(MambaConfig(hidden_size=64, num_hidden_layers=2, vocab_size=500, state_size=8)), [(tokens(2, 12),)]


def segformer():
    from transformers import SegformerConfig, SegformerForSemanticSegmentation

    config = SegformerConfig(depths=[1, 1, 1, 1], hidden_sizes=[16, 32, 64, 128], decoder_hidden_size=64, num_labels=5)
    return SegformerForSemanticSegmentation(config), [(torch.randn(1, 3, 64, 64),)]


class _Keywords(nn.Module):
    """A model called with its arguments by name."""

    def __init__(self, model, *names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *values):
        return self.model(**dict(zip(self.names, values)))


# ------------------------------------------------------------------------------------------------------------ by hand


class Block(nn.Module):
    def __init__(self, inside, out, stride=1):
        super().__init__()
        self.first = nn.Conv2d(inside, out, 3, stride, 1, bias=False)
        self.first_norm = nn.BatchNorm2d(out)
        self.second = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.second_norm = nn.BatchNorm2d(out)
        self.shortcut = nn.Sequential(nn.Conv2d(inside, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        y = F.relu(self.first_norm(self.first(x)))
        return F.relu(self.second_norm(self.second(y)) + self.shortcut(x))


def resnet():
    body = [nn.Conv2d(3, 16, 3, 1, 1), Block(16, 16), Block(16, 32, 2), Block(32, 64, 2)]
    return nn.Sequential(*body, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)), [(torch.randn(2, 3, 32, 32),)]


class Dense(nn.Module):
    def __init__(self, width, growth, layers):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Sequential(nn.BatchNorm2d(width + i * growth), nn.ReLU(), nn.Conv2d(width + i * growth, growth, 3, 1, 1))
            for i in range(layers)
        )

    def forward(self, x):
        parts = [x]
        for layer in self.layers:
            parts.append(layer(torch.cat(parts, 1)))
        return torch.cat(parts, 1)


def densenet():
    body = [nn.Conv2d(3, 16, 3, 1, 1), Dense(16, 8, 4), nn.Conv2d(48, 24, 1), nn.AvgPool2d(2), Dense(24, 8, 4)]
    return nn.Sequential(*body, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(56, 10)), [(torch.randn(2, 3, 32, 32),)]


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        pair = lambda a, b: nn.Sequential(nn.Conv2d(a, b, 3, 1, 1), nn.ReLU(), nn.Conv2d(b, b, 3, 1, 1), nn.ReLU())
        self.down, self.middle, self.up = pair(3, 16), pair(16, 32), pair(32, 16)
        self.grow, self.out = nn.ConvTranspose2d(32, 16, 2, 2), nn.Conv2d(16, 2, 1)

    def forward(self, x):
        first = self.down(x)
        low = self.middle(F.max_pool2d(first, 2))
        return self.out(self.up(torch.cat([first, self.grow(low)], 1)))


def unet():
    return UNet(), [(torch.randn(2, 3, 32, 32),)]


class Cell(nn.Module):
    """An LSTM as a loop in Python."""

    def __init__(self):
        super().__init__()
        self.gates, self.out = nn.Linear(16 + 32, 4 * 32), nn.Linear(32, 5)

    def forward(self, x):
        h = c = x.new_zeros(x.shape[0], 32)
        steps = []
        for t in range(x.shape[1]):
            i, f, g, o = self.gates(torch.cat([x[:, t], h], -1)).chunk(4, -1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            steps.append(self.out(h))
        return torch.stack(steps, 1), (h, c)


def lstm_loop():
    return Cell(), [(torch.randn(3, 6, 16),)]


def lstm():
    return nn.LSTM(16, 32, 2, batch_first=True), [(torch.randn(3, 6, 16),)]


def gru():
    return nn.GRU(16, 32, batch_first=True), [(torch.randn(3, 6, 16),)]


def dcgan():
    up = lambda a, b: [nn.ConvTranspose2d(a, b, 4, 2, 1, bias=False), nn.BatchNorm2d(b), nn.ReLU()]
    body = [nn.ConvTranspose2d(16, 64, 4, 1, 0, bias=False), nn.BatchNorm2d(64), nn.ReLU(), *up(64, 32), *up(32, 16)]
    return nn.Sequential(*body, nn.ConvTranspose2d(16, 3, 4, 2, 1), nn.Tanh()), [(torch.randn(2, 16, 1, 1),)]


class Mix(nn.Module):
    def __init__(self, places, width):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.over_places = nn.Sequential(nn.Linear(places, 64), nn.GELU(), nn.Linear(64, places))
        self.over_width = nn.Sequential(nn.Linear(width, 128), nn.GELU(), nn.Linear(128, width))

    def forward(self, x):
        x = x + self.over_places(self.norms[0](x).transpose(1, 2)).transpose(1, 2)
        return x + self.over_width(self.norms[1](x))


def mixer():
    return nn.Sequential(nn.Conv2d(3, 64, 8, 8), nn.Flatten(2), nn.Linear(16, 64), Mix(64, 64), Mix(64, 64)), [
        (torch.randn(2, 3, 32, 32),)
    ]


def transformer():
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True, norm_first=True)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), [(torch.randn(2, 10, 64),)]


class Squeeze(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.depthwise = nn.Conv2d(width, width, 5, 1, 2, groups=width)
        self.norm, self.gate = nn.GroupNorm(4, width), nn.Sequential(nn.Linear(width, 8), nn.SiLU(), nn.Linear(8, width))
        self.project = nn.Conv2d(width, width, 1)

    def forward(self, x):
        y = F.hardswish(self.norm(self.depthwise(x)))
        y = y * torch.sigmoid(self.gate(y.mean((2, 3))))[:, :, None, None]
        return x + self.project(y)


def squeeze():
    return nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), Squeeze(16), Squeeze(16), nn.AdaptiveMaxPool2d(2)), [(torch.randn(2, 3, 32, 32),)]


class Graph(nn.Module):
    """Two rounds of message passing: gather, scatter, segment softmax."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.score = nn.Linear(8, 16), nn.Linear(16, 4), nn.Linear(16, 1)

    def forward(self, x, edges):
        h = F.elu(self.first(x))
        source, target = edges
        score = self.score(h[source]).squeeze(-1).exp()
        total = x.new_zeros(x.shape[0]).index_add(0, target, score)
        share = score / total[target].clamp_min(1e-6)
        gathered = torch.zeros_like(h).index_add(0, target, h[source] * share[:, None])
        return self.second(h + gathered)


def graph():
    return Graph(), [(torch.randn(20, 8), torch.randint(0, 20, (2, 60)))]


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(32, 16), nn.Softplus(), nn.Linear(16, 8))
        self.decoder = nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(), nn.Linear(16, 32), nn.Sigmoid())

    def forward(self, x):
        mean, log_variance = self.encoder(x).chunk(2, -1)
        kl = -0.5 * (1 + log_variance - mean**2 - log_variance.exp()).sum(-1).mean()
        return self.decoder(mean), kl


def autoencoder():
    return Autoencoder(), [(torch.rand(6, 32),)]


TRANSFORMERS = [bert, distilbert, gpt2, llama, qwen, mixtral, t5, whisper, vit, clip, mamba, segformer]
BY_HAND = [resnet, densenet, unet, lstm_loop, lstm, gru, dcgan, mixer, transformer, squeeze, graph, autoencoder]
MODELS = {make.__name__: make for make in TRANSFORMERS + BY_HAND}
