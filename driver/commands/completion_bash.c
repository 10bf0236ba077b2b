/*
 * The script for bash, from 3.2 on, without the package bash-completion. bash breaks words at '=' as well
 * (COMP_WORDBREAKS): the script puts them together again, and what it answers begins behind the last '='.
 */
#include "driver/commands/completion.h"

#include "driver/commands/commands.h"
#include "driver/commands/completion_bash.h"

#include <stdio.h>
#include <string.h>

static void print_word(void *context, const char *name, const char *help)
{
    const char **between = context;

    (void)help;
    printf("%s%s", *between, name);
    *between = " ";
}

/* _normsweep_keys='layers width ...' */
static void print_lists(void)
{
    for (int i = 0; i < COMPLETION_LISTS; i++) {
        const char *between = "";
        printf("_normsweep_%s='", completion_lists[i].name);
        completion_lists[i].each(print_word, &between);
        printf("'\n");
    }
}

static void print_values_of(void *context, const char *name, const char *words)
{
    (void)context;
    printf("    %s) echo '%s' ;;\n", name, words);
}

static void print_values(void)
{
    printf("\n_normsweep_values_of() {\n    case $1 in\n");
    completion_values(print_values_of, NULL);
    printf("    esac\n}\n");
}

/* "-o --output -j --jobs ...": of a command, or all that take a value. */
static void print_words_of_options(const struct command *command)
{
    const char *between = "";

    for (enum option option = 0; option < OPTION_COUNT; option++) {
        const struct option_row *row = &option_table[option];
        if (command ? !command_takes(command, option) : !row->value)
            continue;
        if (row->letter)
            printf("%s-%c", between, row->letter);
        printf("%s--%s", row->letter ? " " : between, row->word);
        between = " ";
    }
}

static void print_options(void)
{
    printf("\n_normsweep_options_of() {\n    case $1 in\n");
    for (const struct command *command = command_table; command->name; command++) {
        printf("    %s) echo '", command->name);
        print_words_of_options(command);
        printf("' ;;\n");
    }
    printf("    esac\n}\n_normsweep_valued='");
    print_words_of_options(NULL);
    printf("'\n");
}

/* " _normsweep_files 'nc' ;;" */
static void print_completion(const char *placeholders)
{
    const char *between = "";
    struct completion wanted;

    while (completion_next(&placeholders, &wanted)) {
        printf("%s ", between);
        if (wanted.kind == COMPLETION_FILE)
            printf("_normsweep_files '%.*s'", wanted.length, wanted.detail);
        else if (wanted.kind == COMPLETION_PAIRS)
            printf("_normsweep_%.*s", wanted.length, wanted.detail);
        else if (wanted.kind == COMPLETION_LIST)
            printf("_normsweep_words \"$_normsweep_%.*s\"", wanted.length, wanted.detail);
        else if (wanted.kind == COMPLETION_WORD)
            printf("_normsweep_words %.*s", wanted.length, wanted.detail);
        else
            printf(":");
        between = ";";
    }
    printf(" ;;\n");
}

static void print_operands(const struct command *command)
{
    const char *operands = command->operands, *operand;
    int length;

    for (int place = 1; (operand = completion_operand(&operands, &length)); place++) {
        char text[128];
        snprintf(text, sizeof(text), "%.*s", length, operand);
        printf("    %s:%d)", command->name, place);
        print_completion(text);
    }
}

/* What an option takes, and what stands as a command's first, second, ... operand. */
static void print_places(void)
{
    printf("\n_normsweep_at_place() {\n    case $1 in\n");
    for (enum option option = 0; option < OPTION_COUNT; option++) {
        const struct option_row *row = &option_table[option];
        if (!row->value)
            continue;
        if (row->letter)
            printf("    -%c | --%s)", row->letter, row->word);
        else
            printf("    --%s)", row->word);
        print_completion(row->value);
    }
    for (const struct command *command = command_table; command->name; command++)
        print_operands(command);
    printf("    esac\n}\n");
}

static const char beginning[] =
    "# Completion of normsweep in bash. In ~/.bashrc: eval \"$(normsweep completion bash)\"\n\n";

/* Within _normsweep: `current` is the word so far, `prefix` what of it stays as it is. */
static const char functions[] =
    "\n"
    "# Words that carry the current one on, each with a suffix.\n"
    "_normsweep_words() {\n"
    "    local word\n"
    "    for word in $1; do\n"
    "        [[ $prefix$word == \"$current\"* ]] && COMPREPLY+=(\"$prefix$word${2-}\")\n"
    "    done\n"
    "}\n"
    "\n"
    "# Files with an ending, and folders.\n"
    "_normsweep_files() {\n"
    "    local file\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    while IFS= read -r file; do\n"
    "        COMPREPLY+=(\"$file\")\n"
    "    done < <(compgen -f -X \"${1:+!*.$1}\" -- \"$current\"; [[ $1 ]] && compgen -d -- \"$current\")\n"
    "}\n"
    "\n"
    "# NAME=VALUE, behind the prefix.\n"
    "_normsweep_pairs() {\n"
    "    local rest=${current#\"$prefix\"}\n"
    "    if [[ $rest == *=* ]]; then\n"
    "        prefix+=${rest%%=*}=\n"
    "        _normsweep_words \"$(_normsweep_values_of \"${rest%%=*}\")\"\n"
    "    else\n"
    "        compopt -o nospace 2>/dev/null\n"
    "        _normsweep_words \"$1\" =\n"
    "    fi\n"
    "}\n"
    "\n"
    "_normsweep_set() {\n"
    "    _normsweep_pairs \"$_normsweep_keys\"\n"
    "}\n"
    "\n"
    "_normsweep_at() {\n"
    "    prefix=${current%\"${current##*,}\"}\n"
    "    _normsweep_pairs \"$_normsweep_axes\"\n"
    "}\n"
    "\n"
    "_normsweep_over() {\n"
    "    prefix=${current%\"${current##*,}\"}\n"
    "    _normsweep_words \"$_normsweep_axes\"\n"
    "}\n"
    "\n"
    "_normsweep() {\n"
    "    local IFS=$' \\t\\n' current='' prefix='' option='' place=1 ended='' count=0 next=2 word\n"
    "    local -a words=()\n"
    "    COMPREPLY=()\n"
    "    for word in \"${COMP_WORDS[@]:0:COMP_CWORD+1}\"; do\n"
    "        if ((count > 0)) && [[ $word == =* || ${words[count - 1]} == *= ]]; then\n"
    "            words[count - 1]+=$word\n"
    "        else\n"
    "            words[count++]=$word\n"
    "        fi\n"
    "    done\n"
    "    current=${words[count - 1]}\n"
    "    if ((count <= 2)); then\n"
    "        _normsweep_words \"$_normsweep_commands --help --version\"\n"
    "        return\n"
    "    fi\n"
    "    while ((next < count - 1)); do\n"
    "        word=${words[next++]}\n"
    "        option=''\n"
    "        if [[ $ended || $word != -?* ]]; then\n"
    "            ((place++))\n"
    "        elif [[ $word == -- ]]; then\n"
    "            ended=yes\n"
    "        elif [[ \" $_normsweep_valued \" == *\" $word \"* ]]; then\n"
    "            option=$word\n"
    "            ((next++))\n"
    "        fi\n"
    "    done\n"
    "    local attached=''\n"
    "    if ((next < count)); then\n"
    "        option=''\n"
    "    fi\n"
    "    if [[ ! $ended && ! $option && $current == --*=* ]]; then\n"
    "        option=${current%%=*}\n"
    "        attached=$option=\n"
    "        current=${current#*=}\n"
    "    fi\n"
    "    if [[ $option ]]; then\n"
    "        _normsweep_at_place \"$option\"\n"
    "    elif [[ ! $ended && $current == -* ]]; then\n"
    "        _normsweep_words \"$(_normsweep_options_of \"${words[1]}\")\"\n"
    "    else\n"
    "        _normsweep_at_place \"${words[1]}:$place\"\n"
    "    fi\n"
    "    ((${#COMPREPLY[@]} > 0)) || return 0\n"
    "    if [[ $COMP_WORDBREAKS == *=* ]]; then\n"
    "        COMPREPLY=(\"${COMPREPLY[@]#\"${current%\"${current##*=}\"}\"}\")\n"
    "    else\n"
    "        COMPREPLY=(\"${COMPREPLY[@]/#/$attached}\")\n"
    "    fi\n"
    "}\n"
    "complete -F _normsweep normsweep\n"
    "\n"
    "# Scripts beside the program: a dataset or sweep file, and what their --help names.\n"
    "_normsweep_script() {\n"
    "    local IFS=$' \\t\\n' current=$2 prefix=''\n"
    "    COMPREPLY=()\n"
    "    if [[ $current == -* ]]; then\n"
    "        _normsweep_words \"$(\"$1\" --help 2>/dev/null | grep -oE -- "
    "'(^|[[:space:],[])--?[a-zA-Z][a-z-]*' |\n"
    "            tr -d ' ,[')\"\n"
    "    elif [[ $1 == *submit ]]; then\n"
    "        _normsweep_files yaml\n"
    "    else\n"
    "        _normsweep_files nc\n"
    "    fi\n"
    "}\n"
    "complete -F _normsweep_script normsweep-figures normsweep-report normsweep-table \\\n"
    "    analysis/figures analysis/report analysis/table slurm/submit\n";

void completion_bash(void)
{
    fputs(beginning, stdout);
    print_lists();
    print_values();
    print_options();
    print_places();
    fputs(functions, stdout);
}
