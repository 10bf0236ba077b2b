"""The ends of the Hessian's spectrum, and gradients, of an encoder-decoder before training, for post and pre."""

from study import about, number, small

SWEEPS = {"small": small("hessian-encoder-decoder")}


def numbers(small):
    at = small.isel(step=0)
    for placement in small.norm_placement.values:
        run = at.sel(norm_placement=placement)
        for end in "largest", "smallest":
            yield about(f"{end} eigenvalue, {placement}", run[f"hessian_{end}"])
        for stack in small["stack"].values:
            w2 = run.sel(stack=stack, tensor="w2")
            yield about(f"gradient of w2, first layer, {stack}, {placement}", w2.mean_gradient_norm[0])
            yield about(f"gradient of w2, last layer, {stack}, {placement}", w2.mean_gradient_norm[-1])
            yield number(f"gradient_depth_slope, {stack}, {placement}", w2.gradient_depth_slope,
                         w2.gradient_depth_slope - 0.01, w2.gradient_depth_slope + 0.01, "± 0.01")
    for end in "largest", "smallest":
        yield about(f"{end} eigenvalue of post over pre", at[f"hessian_{end}"].sel(norm_placement="post")
                    / at[f"hessian_{end}"].sel(norm_placement="pre"))
