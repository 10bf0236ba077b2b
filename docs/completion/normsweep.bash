# Completion of normsweep in bash, from 3.2 on, without the package bash-completion. In ~/.bashrc:
#     eval "$(normsweep completion bash)"
# bash also breaks words at '=' (COMP_WORDBREAKS): the function joins them again, and its answers begin after the last
# one.
# shellcheck shell=bash disable=SC2046 # names have no blanks

# Prints the names of a kind, a line each: a placeholder of the usage lines, or a key with words as its values. Of a
# command: --option:PLACEHOLDER, 1:OPERAND. From here to the next mark it is written by .ci/tables
_normsweep_names() {
    case $1 in
    COMMAND)
        set -- run plan verify check status show inspect help completion
        ;;
    KEY)
        set -- network layers decoder_layers width heads kv_heads feedforward norm_placement norm qk_norm positions \
            score_scale activation gated bias output_bias tied init init_deviation attention_mask zero_query_key \
            precision init_scale residual_scale parametrization base_width initial_weights corpus objective \
            sequences min_count vocabulary corpus_tokens train_share corpus_seed context batch epochs steps \
            optimiser learning_rate weight_decay timescale decay decay_on decay_rule norm_rule norm_target brake \
            weights beta1 beta2 epsilon momentum schedule schedule_start schedule_end schedule_decay warmup_steps \
            gradient_clip stop_when output_scale z_loss seed threads save_weights include title notes output \
            train_text valid_text together skip refine measure validate gradient_batches hessian spectra \
            lyapunov_exponents lyapunov_sweeps checkpoint_minutes trunks
        ;;
    VARIABLE)
        set -- train_loss valid_loss predicted_entropy accuracy rate_sum param_norm embedding_norm output_norm \
            total_norm direction_cosine stack_norm stack_direction_cosine layer_norm layer_direction_cosine \
            tensor_norm grad_norm step_size alignment gradient_alignment update_norm update_alignment \
            update_alignment_null balance_error layer_step_size layer_alignment layer_gradient_alignment saturation \
            saturation_final hard_saturation hard_saturation_final positions_attended fraction_attended \
            share_above_one attended_histogram heads_histogram max_logit attention_entropy first_attention \
            sink_share activation_rms activation_max norm_growth growth_exponent growth_exponent_error \
            growth_exponent_r2 fit_sqrt_r2 fit_linear_r2 fit_fourth_root_r2 fit_exponential_r2 fit_aligned_k \
            fit_aligned_norm fit_aligned_r2 fit_aligned_aic fit_misaligned_k fit_misaligned_norm fit_misaligned_r2 \
            fit_misaligned_aic fit_adam_like_a fit_adam_like_norm fit_adam_like_r2 fit_adam_like_aic homogeneity \
            homogeneity_degree homogeneity_degree_r2 output_homogeneity_degree output_homogeneity_degree_r2 \
            mean_gradient_norm batch_gradient_norm gradient_depth_slope gradient_depth_slope_error \
            gradient_depth_slope_theory hessian_ritz hessian_weight hessian_largest hessian_smallest hessian_trace \
            hessian_trace_error hessian_bound hessian_preconditioned hessian_stability layer_hessian_ritz \
            layer_hessian_weight layer_hessian_largest layer_hessian_smallest layer_hessian_trace \
            layer_hessian_trace_error layer_hessian_bound residual_norm residual_cosine residual_growth \
            residual_growth_error gradient_growth angle_exponent gradient_exponent lyapunov lyapunov_angular \
            rotation rotation_equilibrium tensor_rms rms_equilibrium forces tensor_forces force_sum force_error \
            critical_sharpness top_singular stable_rank top_over_noise spectral_entropy dead qk_rank ov_rank \
            qk_imbalance ov_imbalance singular_values unigram_loss final_train_loss final_valid_loss outcome phase \
            dynamics last_step diverged_step ended_early seconds tokens_per_second attempts deaths session worker \
            begin end
        ;;
    AXIS)
        set -- network layers decoder_layers width heads kv_heads feedforward norm_placement norm qk_norm positions \
            score_scale activation gated bias output_bias tied init init_deviation attention_mask zero_query_key \
            precision init_scale residual_scale parametrization base_width initial_weights objective sequences \
            context batch epochs steps optimiser learning_rate weight_decay timescale decay decay_on decay_rule \
            norm_rule norm_target brake weights beta1 beta2 epsilon momentum schedule schedule_start schedule_end \
            schedule_decay warmup_steps gradient_clip stop_when output_scale z_loss seed threads step stack layer \
            tensor head attended scale probe lanczos depth exponent force singular
        ;;
    NAME)
        set -- always norms alignment saturation heads attention homogeneity gradients hessian hessian_layers \
            residual lyapunov equilibrium forces sharpness spectra spectra_values train_loss valid_loss \
            predicted_entropy accuracy rate_sum param_norm embedding_norm output_norm total_norm direction_cosine \
            stack_norm stack_direction_cosine layer_norm layer_direction_cosine tensor_norm grad_norm step_size \
            gradient_alignment update_norm update_alignment update_alignment_null balance_error layer_step_size \
            layer_alignment layer_gradient_alignment saturation_final hard_saturation hard_saturation_final \
            positions_attended fraction_attended share_above_one attended_histogram heads_histogram max_logit \
            attention_entropy first_attention sink_share activation_rms activation_max norm_growth growth_exponent \
            growth_exponent_error growth_exponent_r2 fit_sqrt_r2 fit_linear_r2 fit_fourth_root_r2 fit_exponential_r2 \
            fit_aligned_k fit_aligned_norm fit_aligned_r2 fit_aligned_aic fit_misaligned_k fit_misaligned_norm \
            fit_misaligned_r2 fit_misaligned_aic fit_adam_like_a fit_adam_like_norm fit_adam_like_r2 \
            fit_adam_like_aic homogeneity_degree homogeneity_degree_r2 output_homogeneity_degree \
            output_homogeneity_degree_r2 mean_gradient_norm batch_gradient_norm gradient_depth_slope \
            gradient_depth_slope_error gradient_depth_slope_theory hessian_ritz hessian_weight hessian_largest \
            hessian_smallest hessian_trace hessian_trace_error hessian_bound hessian_preconditioned \
            hessian_stability layer_hessian_ritz layer_hessian_weight layer_hessian_largest layer_hessian_smallest \
            layer_hessian_trace layer_hessian_trace_error layer_hessian_bound residual_norm residual_cosine \
            residual_growth residual_growth_error gradient_growth angle_exponent gradient_exponent lyapunov_angular \
            rotation rotation_equilibrium tensor_rms rms_equilibrium tensor_forces force_sum force_error \
            critical_sharpness top_singular stable_rank top_over_noise spectral_entropy dead qk_rank ov_rank \
            qk_imbalance ov_imbalance singular_values unigram_loss final_train_loss final_valid_loss step stack \
            layer tensor head attended scale probe lanczos depth exponent force singular record fresh magnitude \
            ratio share r_squared outcome phase dynamics last_step diverged_step ended_early seconds \
            tokens_per_second attempts deaths host session worker begin end reason session_version session_commit \
            session_compiler session_blas session_blas_kernel session_vector_level session_mpi session_host \
            session_bad_hosts session_start session_begin session_end session_seconds_left session_tokens_per_second \
            session_workers session_runs Conventions title sweep_title sweep_notes source history references \
            format_version configuration_digest data_digest training_precision measure validate refine part \
            gradient_batches lyapunov_exponents lyapunov_sweeps sweep
        ;;
    run)
        set -- -o:OUT.nc --output:OUT.nc -j:N --jobs:N --spares:N --hosts:FILE --set:KEY=VALUE --fresh --dry-run \
            --retry-failed --budget:TIME --part:I/N --only:NAME=VALUE --log:FILE -h --help 1:SWEEP.yaml
        ;;
    plan)
        set -- -o:OUT.nc --output:OUT.nc -j:N --jobs:N --set:KEY=VALUE --part:I/N --only:NAME=VALUE --values -h \
            --help 1:SWEEP.yaml
        ;;
    verify)
        set -- -o:OUT.nc --output:OUT.nc -j:N --jobs:N --set:KEY=VALUE -n:N --runs:N --values -h --help 1:SWEEP.yaml
        ;;
    check)
        set -- -o:OUT.nc --output:OUT.nc --set:KEY=VALUE --values -h --help 1:SWEEP.yaml
        ;;
    status)
        set -- --watch --wait --limit:SECONDS --json -h --help 1:OUT.nc
        ;;
    show)
        set -- --at:NAME=VALUE '--over:X[,Y]' -h --help 1:OUT.nc 2:VARIABLE
        ;;
    inspect)
        set -- -o:OUT.nc --output:OUT.nc --at:NAME=VALUE --tokens:IDS --context:T --threads:N --lines --mask:ID \
            --sentinel:ID --states --json -h --help 1:NET.weights.nc
        ;;
    help)
        set -- --json --schema -h --help '1:params|metrics|KEY|NAME|COMMAND'
        ;;
    completion)
        set -- -h --help '1:bash|zsh'
        ;;
    'params|metrics|KEY|NAME|COMMAND')
        set -- params metrics $(_normsweep_names KEY) $(_normsweep_names NAME) $(_normsweep_names COMMAND)
        ;;
    'bash|zsh')
        set -- bash zsh
        ;;
    network)
        set -- decoder encoder encoder_decoder
        ;;
    norm_placement)
        set -- post pre out
        ;;
    norm)
        set -- layernorm rmsnorm none
        ;;
    qk_norm | gated | bias | output_bias | tied | zero_query_key)
        set -- true false
        ;;
    positions)
        set -- learned sinusoidal rotary relative none
        ;;
    score_scale)
        set -- sqrt none
        ;;
    activation)
        set -- relu gelu gelu_tanh silu
        ;;
    init)
        set -- torch xavier normal
        ;;
    attention_mask)
        set -- causal multiplicative
        ;;
    precision)
        set -- float bfloat16
        ;;
    parametrization)
        set -- standard mup
        ;;
    initial_weights)
        set -- none
        ;;
    corpus)
        set -- text bytes markov dyck counter tokens pairs modular
        ;;
    objective)
        set -- next spans masked
        ;;
    sequences)
        set -- stream lines
        ;;
    optimiser)
        set -- adamw adam sgd normalized_sgd adafactor lion muon
        ;;
    decay)
        set -- fused factor
        ;;
    decay_on)
        set -- all matrices hidden attention feedforward gains biases embeddings output
        ;;
    decay_rule)
        set -- scaled independent corrected cautious
        ;;
    norm_rule)
        set -- free fixed hyperball brake
        ;;
    weights)
        set -- float bfloat16 bfloat16_stochastic
        ;;
    schedule)
        set -- constant linear inverse_sqrt cosine wsd
        ;;
    stop_when)
        set -- never phase
        ;;
    save_weights)
        set -- false true state
        ;;
    tensor)
        set -- q k v o w1 w2 ln1 ln2 q_bias k_bias v_bias o_bias w1_bias w2_bias ln1_bias ln2_bias w3 w3_bias q_norm \
            k_norm q_norm_bias k_norm_bias cross_q cross_k cross_v cross_o cross_ln cross_q_bias cross_k_bias \
            cross_v_bias cross_o_bias cross_ln_bias cross_q_norm cross_k_norm cross_q_norm_bias cross_k_norm_bias \
            distance content_bias distance_bias
        ;;
    *) return ;;
    esac
    printf '%s\n' "$@"
}
# to here

# Adds the words that begin with the current one, each with a suffix.
_normsweep_words() {
    local word
    for word in $1; do
        [[ $prefix$word == "$current"* ]] && COMPREPLY+=("$prefix$word${2-}")
    done
}

# Adds files with this extension, and folders.
_normsweep_files() {
    local file
    compopt -o filenames 2>/dev/null
    while IFS= read -r file; do
        COMPREPLY+=("$file")
    done < <(compgen -f -X "${1:+!*.$1}" -- "$current"; [[ $1 ]] && compgen -d -- "$current")
}

# Completes NAME=VALUE after the prefix.
_normsweep_pairs() {
    local rest=${current#"$prefix"}
    if [[ $rest == *=* ]]; then
        prefix+=${rest%%=*}=
        _normsweep_words "$(_normsweep_names "${rest%%=*}")"
    else
        compopt -o nospace 2>/dev/null
        _normsweep_words "$1" =
    fi
}

# Completes what a placeholder of the usage lines stands for.
_normsweep_placeholder() {
    case $1 in
    '' | N | T | ID | SECONDS | TIME | SCRIPT) ;;
    IDS | FILE) _normsweep_files '' ;;
    KEY=VALUE) _normsweep_pairs "$(_normsweep_names KEY)" ;;
    NAME=VALUE | X*)
        prefix=${current%"${current##*,}"}
        if [[ $1 == X* ]]; then
            _normsweep_words "$(_normsweep_names AXIS)"
        else
            _normsweep_pairs "$(_normsweep_names AXIS)"
        fi
        ;;
    *.*) _normsweep_files "${1##*.}" ;;
    *) _normsweep_words "$(_normsweep_names "$1")" ;;
    esac
}

_normsweep() {
    local IFS=$' \t\n' current='' prefix='' option='' place=1 ended='' count=0 next=2 word
    local value valued='' options=''
    local -a words=() operands=('')
    COMPREPLY=()
    for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
        if ((count > 0)) && [[ $word == =* || ${words[count - 1]} == *= ]]; then
            words[count - 1]+=$word
        else
            words[count++]=$word
        fi
    done
    current=${words[count - 1]}
    if ((count <= 2)); then
        _normsweep_words "$(_normsweep_names COMMAND) --help --version"
        return
    fi
    while IFS= read -r word; do
        value=${word#*:}
        case $word in
        -*:*) options+=" ${word%%:*}" valued+=" ${word%%:*} $value " ;;
        -*) options+=" $word" ;;
        *) operands+=("$value") ;;
        esac
    done < <(_normsweep_names "${words[1]}")
    while ((next < count - 1)); do
        word=${words[next++]}
        option=''
        if [[ $ended || $word != -?* ]]; then
            ((place++))
        elif [[ $word == -- ]]; then
            ended=yes
        elif [[ $valued == *" $word "* ]]; then
            option=$word
            ((next++))
        fi
    done
    local attached=''
    if ((next < count)); then
        option=''
    fi
    if [[ ! $ended && ! $option && $current == --*=* ]]; then
        option=${current%%=*}
        attached=$option=
        current=${current#*=}
    fi
    if [[ $option ]]; then
        valued=${valued#*" $option "}
        _normsweep_placeholder "${valued%% *}"
    elif [[ ! $ended && $current == -* ]]; then
        _normsweep_words "$options"
    else
        _normsweep_placeholder "${operands[place]-}"
    fi
    ((${#COMPREPLY[@]} > 0)) || return 0
    if [[ $COMP_WORDBREAKS == *=* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${current%"${current##*=}"}"}")
    else
        COMPREPLY=("${COMPREPLY[@]/#/$attached}")
    fi
}
complete -F _normsweep normsweep

# Completes the scripts that come with the program: a dataset or sweep file, and the options in their --help.
_normsweep_script() {
    local IFS=$' \t\n' current=$2 prefix=''
    COMPREPLY=()
    if [[ $current == -* ]]; then
        _normsweep_words "$("$1" --help 2>/dev/null | grep -oE -- '(^|[[:space:],[])--?[a-zA-Z][a-z-]*' |
            tr -d ' ,[')"
    elif [[ $1 == *submit ]]; then
        _normsweep_files yaml
    elif [[ $1 == *weights ]] && ((COMP_CWORD == 1)); then
        _normsweep_words "import export tokens"
    elif [[ $1 == *weights ]]; then
        _normsweep_files ''
    else
        _normsweep_files nc
    fi
}
complete -F _normsweep_script normsweep-compare normsweep-figures normsweep-join normsweep-log normsweep-report \
    normsweep-table normsweep-weights analysis/compare analysis/figures analysis/join analysis/log analysis/report \
    analysis/table analysis/weights slurm/submit
