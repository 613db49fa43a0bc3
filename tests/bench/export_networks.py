# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Networks of transformers and torchvision at sizes of everyday use, exported for bench_cpu.py:

    python3 tests/bench/export_networks.py [--batch N] FOLDER [NAME ...]
    ./dev bench cpu --full --fixtures FOLDER --threads 2 --dtypes float32 [NAME ...]

Writes FOLDER/NAME/NAME.pt2 and input_0.npy, ... of the networks that are not there yet; all by default. Weights are random, and so
are the statistics of batch norms; one image or one text each, or N of them, a few layers of large ones. Needs transformers or
torchvision."""
import argparse
import os
import sys
import warnings

import numpy
import torch

from cpu_models import OfTensors

WORDS = 8000
SMALL = dict(hidden_size=512, num_hidden_layers=4, num_attention_heads=8, vocab_size=WORDS)
VISION = dict(hidden_size=384, num_attention_heads=6, intermediate_size=1536, num_hidden_layers=6)
ENCODER = dict(num_hidden_layers=4, vocab_size=WORDS)
POSITIONS = dict(relative_attention=True, pos_att_type="c2p|p2c", position_buckets=256, max_relative_positions=-1, norm_rel_ebd="layer_norm")

# Name: configuration, its settings, the task's class, shapes of the inputs (of words where there is one number).
TRANSFORMERS = {
    "distilbert": ("DistilBert", dict(n_layers=4, vocab_size=WORDS), "AutoModel", {"input_ids": 128}),
    "roberta": ("Roberta", dict(ENCODER, pad_token_id=1), "AutoModel", {"input_ids": 128}),
    "albert": ("Albert", dict(ENCODER, hidden_size=768, num_attention_heads=12, intermediate_size=3072), "AutoModel", {"input_ids": 128}),
    "electra": ("Electra", dict(vocab_size=WORDS), "AutoModel", {"input_ids": 128}),
    "deberta": ("DebertaV2", dict(ENCODER, **POSITIONS, hidden_size=384, num_attention_heads=6, intermediate_size=1536), "AutoModel", {"input_ids": 128}),
    "xlnet": ("XLNet", dict(d_model=512, n_layer=4, n_head=8, d_inner=2048, vocab_size=WORDS), "AutoModel", {"input_ids": 128}),
    "fnet": ("FNet", ENCODER, "AutoModel", {"input_ids": 128}),
    "mpnet": ("MPNet", ENCODER, "AutoModel", {"input_ids": 128}),
    "squeezebert": ("SqueezeBert", dict(ENCODER, embedding_size=768), "AutoModel", {"input_ids": 128}),
    "modernbert": ("ModernBert", dict(SMALL, num_hidden_layers=6, intermediate_size=768, pad_token_id=0), "AutoModel", {"input_ids": 128}),
    "t5": ("T5", dict(num_layers=4, vocab_size=WORDS), "AutoModel", {"input_ids": 64, "decoder_input_ids": 16}),
    "bart": (
        "Bart", dict(d_model=512, encoder_layers=3, decoder_layers=3, encoder_attention_heads=8, decoder_attention_heads=8, encoder_ffn_dim=2048,
                     decoder_ffn_dim=2048, vocab_size=WORDS), "AutoModel", {"input_ids": 64, "decoder_input_ids": 16}),
    "wav2vec2": ("Wav2Vec2", dict(num_hidden_layers=4), "AutoModel", {"input_values": (1, 16000)}),
    "opt": (
        "OPT", dict(SMALL, ffn_dim=2048, word_embed_proj_dim=512), "AutoModelForCausalLM", {"input_ids": 64}),
    "gpt_neox": ("GPTNeoX", dict(SMALL, intermediate_size=2048), "AutoModelForCausalLM", {"input_ids": 64}),
    "mistral": ("Mistral", dict(SMALL, intermediate_size=1536, num_key_value_heads=2), "AutoModelForCausalLM", {"input_ids": 64}),
    "qwen2": ("Qwen2", dict(SMALL, intermediate_size=1536, num_key_value_heads=2), "AutoModelForCausalLM", {"input_ids": 64}),
    "qwen3": ("Qwen3", dict(SMALL, intermediate_size=1536, num_key_value_heads=2, head_dim=64), "AutoModelForCausalLM", {"input_ids": 64}),
    "gemma2": ("Gemma2", dict(SMALL, intermediate_size=1536, num_key_value_heads=4, head_dim=64), "AutoModelForCausalLM", {"input_ids": 64}),
    "phi": ("Phi", dict(SMALL, intermediate_size=2048), "AutoModelForCausalLM", {"input_ids": 64}),
    "falcon": ("Falcon", SMALL, "AutoModelForCausalLM", {"input_ids": 64}),
    "bloom": ("Bloom", dict(hidden_size=512, n_layer=4, n_head=8, vocab_size=WORDS), "AutoModelForCausalLM", {"input_ids": 64}),
    "gptj": ("GPTJ", dict(n_embd=512, n_layer=4, n_head=8, rotary_dim=32, vocab_size=WORDS), "AutoModelForCausalLM", {"input_ids": 64}),
    "mamba": ("Mamba", dict(hidden_size=384, num_hidden_layers=4, vocab_size=WORDS, state_size=16), "AutoModelForCausalLM", {"input_ids": 64}),
    "llama_token": ("Llama", dict(SMALL, intermediate_size=1536, num_key_value_heads=4), "AutoModelForCausalLM", {"input_ids": 1}),
    "resnet50": ("ResNet", {}, "AutoModel", {"pixel_values": (1, 3, 224, 224)}),
    "convnext": ("ConvNext", {}, "AutoModel", {"pixel_values": (1, 3, 224, 224)}),
    "swin": ("Swin", {}, "AutoModel", {"pixel_values": (1, 3, 224, 224)}),
    "swinv2": ("Swinv2", dict(image_size=256, window_size=8), "AutoModel", {"pixel_values": (1, 3, 256, 256)}),
    "segformer": ("Segformer", {}, "AutoModelForSemanticSegmentation", {"pixel_values": (1, 3, 256, 256)}),
    "mobilevit": ("MobileViT", {}, "AutoModel", {"pixel_values": (1, 3, 256, 256)}),
    "mobilenet_v2": ("MobileNetV2", {}, "AutoModel", {"pixel_values": (1, 3, 224, 224)}),
    "efficientnet_b7": ("EfficientNet", {}, "AutoModel", {"pixel_values": (1, 3, 240, 240)}),
    "regnet": ("RegNet", {}, "AutoModel", {"pixel_values": (1, 3, 224, 224)}),
    "poolformer": ("PoolFormer", {}, "AutoModel", {"pixel_values": (1, 3, 224, 224)}),
    "levit": ("Levit", {}, "AutoModel", {"pixel_values": (1, 3, 224, 224)}),
    "deit": ("DeiT", VISION, "AutoModel", {"pixel_values": (1, 3, 224, 224)}),
    "beit": ("Beit", VISION, "AutoModel", {"pixel_values": (1, 3, 224, 224)}),
    "dinov2": ("Dinov2", dict(hidden_size=384, num_attention_heads=6, num_hidden_layers=6), "AutoModel", {"pixel_values": (1, 3, 224, 224)}),
    "pvt_v2": ("PvtV2", {}, "AutoModel", {"pixel_values": (1, 3, 224, 224)}),
    "cvt": ("Cvt", {}, "AutoModel", {"pixel_values": (1, 3, 224, 224)}),
    "clip": (
        "CLIP", dict(text_config=dict(num_hidden_layers=4, vocab_size=WORDS, eos_token_id=499), vision_config=dict(num_hidden_layers=4)),
        "AutoModel", {"input_ids": (2, 16), "pixel_values": (1, 3, 224, 224)}),
    "yolos": (
        "Yolos", dict(image_size=[224, 224], hidden_size=192, num_attention_heads=3, intermediate_size=768, num_hidden_layers=6),
        "AutoModel", {"pixel_values": (1, 3, 224, 224)}),
}
IMAGE = (1, 3, 224, 224)
TORCHVISION = {
    **dict.fromkeys(["alexnet", "vgg11", "resnet34", "resnext50_32x4d", "wide_resnet50_2", "densenet169", "googlenet", "squeezenet1_1", "mnasnet1_0",
                     "mobilenet_v3_large", "shufflenet_v2_x1_0", "efficientnet_v2_s", "regnet_y_800mf", "fcn_resnet50", "deeplabv3_resnet50"], IMAGE),
    "mc3_18": (1, 3, 16, 112, 112), "r2plus1d_18": (1, 3, 8, 112, 112), "s3d": (1, 3, 16, 224, 224),
}


def in_batch(shape, batch):
    return (shape[0] * batch, *shape[1:])


class First(OfTensors):
    """The first tensor of what a network gives."""

    def forward(self, *tensors):
        result = super().forward(*tensors)
        while not isinstance(result, torch.Tensor):
            parts = result.values() if isinstance(result, dict) else result
            result = next(part for part in parts if part is not None)
        return result


def of_transformers(name, batch):
    import transformers

    config, settings, task, shapes = TRANSFORMERS[name]
    network = getattr(transformers, task).from_config(getattr(transformers, f"{config}Config")(**settings))
    network.config.use_cache = False
    inputs = {}
    for key, shape in shapes.items():
        shape = in_batch(shape if isinstance(shape, tuple) else (1, shape), batch)
        inputs[key] = torch.randint(3, 500, shape) if key.endswith("input_ids") else torch.randn(*shape)
    return First(network, [], {**inputs, "return_dict": True})


def of_torchvision(name, batch):
    import torchvision

    more = {"weights_backbone": None} if "fcn" in name or "deeplab" in name else {}
    return First(torchvision.models.get_model(name, weights=None, **more), [torch.randn(*in_batch(TORCHVISION[name], batch))], {})


def export(name, folder, batch):
    torch.manual_seed(0)
    module = (of_transformers if name in TRANSFORMERS else of_torchvision)(name, batch).eval()
    inputs = module.__dict__.pop("inputs")
    for part in module.modules():
        if isinstance(part, torch.nn.modules.batchnorm._BatchNorm):
            part.running_mean.normal_(0, 0.1)
            part.running_var.uniform_(0.5, 1.5)
    with torch.no_grad():
        program = torch.export.export(module, tuple(inputs), strict=False)
    os.makedirs(folder, exist_ok=True)
    for i, tensor in enumerate(inputs):
        numpy.save(f"{folder}/input_{i}.npy", tensor.numpy())
    torch.export.save(program, f"{folder}/.{name}.pt2")
    os.rename(f"{folder}/.{name}.pt2", f"{folder}/{name}.pt2")


def main():
    warnings.filterwarnings("ignore")
    known = [*TRANSFORMERS, *TORCHVISION]
    parser = argparse.ArgumentParser(description="exports networks for ./dev bench cpu --fixtures FOLDER")
    parser.add_argument("--batch", type=int, default=1, metavar="N", help="images or texts (default: 1)")
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"default: all of {', '.join(known)}")
    chosen = parser.parse_args()
    if chosen.batch < 1:
        parser.error(f"--batch must be at least 1, found {chosen.batch}")
    if unknown := [name for name in chosen.names if name not in known]:
        parser.error(f"there is no network {', '.join(unknown)}; there are: {', '.join(known)}")
    failed = 0
    for name in chosen.names or known:
        folder = os.path.join(chosen.folder, name)
        if os.path.exists(f"{folder}/{name}.pt2"):
            continue
        try:
            export(name, folder, chosen.batch)
            print(name, flush=True)
        except Exception as error:
            failed += 1
            print(f"{name}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
