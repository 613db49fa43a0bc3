# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's fast paths of nn.TransformerEncoderLayer and nn.MultiheadAttention, each one operator, as the operators they stand for."""
import torch
from torch.nn import functional as F

aten = torch.ops.aten


def _heads(x, weight, bias, heads):
    """Query, key and value [batch, heads, length, width of a head] of [batch, length, width]."""
    batch, length, width = x.shape
    parts = F.linear(x, weight, bias).view(batch, length, 3, heads, width // heads)
    return parts.permute(2, 0, 3, 1, 4).unbind(0)


def _attend(x, heads, qkv_weight, qkv_bias, weight, bias):
    query, key, value = _heads(x, qkv_weight, qkv_bias, heads)
    attended = F.scaled_dot_product_attention(query, key, value)
    return F.linear(attended.transpose(1, 2).flatten(2), weight, bias)


def _encoder_layer(
    x, width, heads, qkv_weight, qkv_bias, out_weight, out_bias, gelu, norm_first, eps, first_weight, first_bias, second_weight,
    second_bias, up_weight, up_bias, down_weight, down_bias, mask=None, mask_type=None,
):
    if mask is not None or x.is_nested:
        return NotImplemented
    first = lambda value: F.layer_norm(value, (width,), first_weight, first_bias, eps)
    second = lambda value: F.layer_norm(value, (width,), second_weight, second_bias, eps)
    attend = lambda value: _attend(value, heads, qkv_weight, qkv_bias, out_weight, out_bias)
    activation = F.gelu if gelu else F.relu
    feed_forward = lambda value: F.linear(activation(F.linear(value, up_weight, up_bias)), down_weight, down_bias)
    if norm_first:
        x = x + attend(first(x))
        return x + feed_forward(second(x))
    x = first(x + attend(x))
    return second(x + feed_forward(x))


def _multi_head_attention(
    query, key, value, width, heads, qkv_weight, qkv_bias, weight, bias, mask=None, need_weights=True, average=True, mask_type=None
):
    if mask is not None or need_weights or query is not key or key is not value or query.is_nested:
        return NotImplemented
    return _attend(query, heads, qkv_weight, qkv_bias, weight, bias), query.new_empty(0)


FAST_PATHS = {
    aten._transformer_encoder_layer_fwd.default: _encoder_layer,
    aten._native_multi_head_attention.default: _multi_head_attention,
}
