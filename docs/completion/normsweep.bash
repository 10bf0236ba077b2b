# Completion of normsweep in bash, from 3.2 on, without the package bash-completion. In ~/.bashrc:
#     eval "$(normsweep completion bash)"
# The names come from `normsweep help --names KIND`. bash also breaks words at '=' (COMP_WORDBREAKS): the function joins
# them again, and its answers begin after the last '='.
# shellcheck shell=bash

# The names of a kind; `program` is the command being completed.
_normsweep_names() {
    "$program" help --names "$1" 2>/dev/null | cut -f 1
}

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
    '' | N | T | ID | SECONDS | SCRIPT) ;;
    IDS | FILE) _normsweep_files '' ;;
    DIR)
        compopt -o filenames 2>/dev/null
        while IFS= read -r word; do
            COMPREPLY+=("$word")
        done < <(compgen -d -- "$current")
        ;;
    WEIGHTS) _normsweep_files safetensors ;;
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
    local IFS=$' \t\n' program=$1 current='' prefix='' option='' place=1 ended='' count=0 next=2 word
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
        value=${word##*$'\t'} word=${word%%$'\t'*}
        case $word in
        -*) options+=" $word" && [[ $value ]] && valued+=" $word $value " ;;
        *) operands+=("$value") ;;
        esac
    done < <("$program" help --names "${words[1]}" 2>/dev/null)
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
    else
        _normsweep_files nc
    fi
}
complete -F _normsweep_script normsweep-compare normsweep-figures normsweep-report normsweep-table \
    analysis/compare analysis/figures analysis/report analysis/table slurm/submit
