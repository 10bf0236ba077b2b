/*
 * mpirun runs in its own process group, so that Ctrl-C at the terminal reaches only this process: on SIGINT
 * mpirun would kill all ranks within a second. mpirun forwards SIGUSR1 to every rank, and the job goes on.
 * But a rank without a handler dies of SIGUSR1, so none is sent before the coordinator has reported, through
 * the lease, that all ranks are ready.
 *
 * launcher_run prepares the command line once, then watches one life of mpirun after the other: run_once
 * starts it, watch_mpirun follows it, judge says how it ended, judge_loss whether there is another.
 */
#include "driver/ranks/inside.h"
#include "driver/text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OPTIONS_MOST = 24, VALUE_SIZE = 64 };

#define GAP_MOST 1 /* seconds between two looks that count, at most: the whole job may be suspended */
#define NEWS_SECONDS 0.1 /* between two looks at the lease while ranks start; later ten times as long */
#define TELL_SECONDS 15 /* without a new rank, before this process says what it waits for */
#define GRACE_SECONDS 5 /* for mpirun to end after its coordinator */
#define TERM_SECONDS 3 /* between SIGTERM and SIGKILL; mpirun needs one to remove its files */
#define START_SECONDS 30 /* for ranks to start after a stop was requested */
#define INIT_SECONDS 100 /* for a coordinator to return from MPI_Init */
#define INIT_SECONDS_ALLOCATION 300 /* the same in an allocation, which may have thousands of ranks */
#define HUNG_SECONDS 100 /* without a beat of the coordinator, which beats while it reads texts, too */
#define STARTS_MOST 3 /* restarts in a row without a new result or checkpoint */

/* One life of mpirun. */
struct launcher {
    const struct launch *launch;
    pid_t mpirun;
    struct pump out, error;
    struct coordinator_news news;
    struct rank_processes ranks;
    int expected; /* ranks on this machine; 0: they may be on others */
    bool reaped, asked, put_down; /* asked: SIGUSR1 was sent; put_down: this process ended mpirun */
    int ended; /* mpirun's wait status */
    double clock, now; /* clock_now() of this look; time that counts, frozen while this process is paused */
    double begun, looked, renewed;
    int told; /* ranks that were there when this process said what it waits for; -1: it has not */
    double patience; /* seconds for a coordinator to join */
    double beaten; /* when the coordinator's beat last changed */
    double stopped; /* when a requested stop was first seen; 0: none is requested */
    double gone; /* when the coordinator was first seen to be gone; 0: it is not gone */
};

static bool is_hydra(const struct launcher *l)
{
    return l->launch->mpirun->kind == MPIRUN_HYDRA;
}

/* ---- starting ---- */

struct command_line {
    const char **argument; /* ends with NULL */
    int count;
    char ranks[16], *program;
};

static void add(struct command_line *line, const char *argument)
{
    line->argument[line->count++] = argument;
}

/*
 * One dead rank must not end all others. The coordinator mostly sleeps, so it may share a processor. MPICH's
 * mpiexec has neither: it ends all ranks when one dies, and -disable-auto-cleanup makes it break down itself;
 * it lets ranks share processors, binds none and hands the environment on, all by default.
 */
static int compose(struct command_line *line, const struct launch *launch, int ranks, struct error *error)
{
    enum { HANDED_ALWAYS = 3 }; /* the others if they are set */
    const char *const handed[] = {LEASE_VARIABLE, launch->observer.variable, SPARES_VARIABLE, CHOSEN_VARIABLE,
        "NORMSWEEP_VECTOR", "OPENBLAS_CORETYPE"};
    int release = launch->mpirun->release; /* 0: not Open MPI's */

    line->program = process_program();
    if (!line->program) {
        error_set(error, ERROR_ENVIRONMENT, "%s: %s", launch->mpirun->command, strerror(errno));
        return -1;
    }
    line->argument = memory_zero((size_t)launch->argc + OPTIONS_MOST, sizeof(*line->argument));
    add(line, launch->mpirun->command);
    if (release > 0) {
        add(line, release >= 5 ? "--with-ft" : "--enable-recovery");
        if (release >= 5)
            add(line, "ulfm");
        add(line, "--oversubscribe");
        add(line, "--bind-to");
        add(line, "none");
        for (size_t i = 0; i < sizeof(handed) / sizeof(*handed); i++)
            if (i < HANDED_ALWAYS || getenv(handed[i])) {
                add(line, "-x");
                add(line, handed[i]);
            }
    }
    if (launch->mpirun->hosts) {
        add(line, release > 0 ? "--hostfile" : "-f");
        add(line, launch->mpirun->hosts);
    }
    if (ranks > 0) {
        snprintf(line->ranks, sizeof(line->ranks), "%d", ranks);
        add(line, "-n");
        add(line, line->ranks);
    }
    add(line, line->program);
    for (int i = 0; i < launch->argc; i++)
        add(line, launch->argv[i]);
    return 0;
}

static int start_mpirun(struct launcher *l, const struct command_line *line, struct error *error)
{
    const struct launch_observer *observer = &l->launch->observer;
    int out[2] = {-1, -1}, err[2] = {-1, -1};
    char text[VALUE_SIZE];
    pid_t self = getpid();

    observer->value(text, sizeof(text));
    if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0 || (l->mpirun = fork()) < 0) {
        int cause = errno;
        for (int i = 0; i < 2; i++) {
            close(out[i]);
            close(err[i]);
        }
        return error_set(error, ERROR_ENVIRONMENT, "mpirun: %s", strerror(cause));
    }
    if (l->mpirun == 0) {
        int nothing = open("/dev/null", O_RDONLY);
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGTERM); /* mpirun ends when this process dies */
        if (getppid() != self)
            _exit(ERROR_ENVIRONMENT);
        dup2(nothing, STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        dup2(err[1], STDERR_FILENO);
        setenv(observer->variable, text, 1);
        setenv(LEASE_VARIABLE, lease_token(l->launch->lease), 1); /* a process with it is a launcher's rank */
        execvp(l->launch->mpirun->command, (char **)line->argument);
        _exit(ERROR_ENVIRONMENT);
    }
    setpgid(l->mpirun, l->mpirun);
    close(out[1]);
    close(err[1]);
    pump_init(&l->out, out[0], STDOUT_FILENO, is_hydra(l)); /* where mpiexec says that a rank has died */
    pump_init(&l->error, err[0], STDERR_FILENO, true);
    return 0;
}

/* ---- watching ---- */

static void reap(struct launcher *l, int options)
{
    while (!l->reaped) {
        pid_t pid = waitpid(l->mpirun, &l->ended, options);
        if (pid < 0 && errno == EINTR)
            continue;
        l->reaped = pid != 0;
        return;
    }
}

static void wait_a_moment(struct launcher *l, int milliseconds)
{
    struct pollfd streams[2] = {{l->out.from, POLLIN, 0}, {l->error.from, POLLIN, 0}};

    poll(streams, 2, milliseconds);
    pump_move(&l->out);
    pump_move(&l->error);
    if (l->out.ended && l->error.ended)
        clock_pause(milliseconds * 1e-3);
    reap(l, WNOHANG);
}

/* Ends mpirun. It gets time to remove its files and to kill its ranks, which die with it in any case. The
 * command that was started may be a script around mpirun. */
static void end(struct launcher *l)
{
    double begin = clock_now();

    l->put_down = true;
    kill(l->ranks.mpirun, SIGTERM);
    while (!l->reaped && clock_now() - begin < TERM_SECONDS)
        wait_a_moment(l, 20);
    if (!l->reaped)
        kill(-l->mpirun, SIGKILL);
    reap(l, 0);
}

/* Reads the lease; keeps the last state if the lease was taken by others. */
static void hear(struct launcher *l)
{
    struct coordinator_news news = lease_news(l->launch->lease);

    if (news.stage == STAGE_NONE)
        return;
    if (news.beat != l->news.beat || news.stage != l->news.stage)
        l->beaten = l->now;
    l->news = news;
}

static void look_at_ranks(struct launcher *l, double now)
{
    bool starting = l->news.stage < STAGE_READY;
    char expected[32] = "";
    struct error ignored;

    if (now - l->looked >= (starting ? NEWS_SECONDS : 10 * NEWS_SECONDS)) {
        l->looked = now;
        hear(l);
        if (starting)
            rank_processes_look(&l->ranks, now);
        if (l->news.stage == STAGE_NONE && l->ranks.most != l->told && now - l->ranks.grown >= TELL_SECONDS) {
            /* MPI_Init takes long, which is said once for each number of ranks. */
            l->told = l->ranks.most;
            if (l->expected)
                snprintf(expected, sizeof(expected), " of %d", l->expected);
            lines_print(stderr, 0,
                "%s: %s was started %.0f s ago, and MPI_Init has not returned yet; ranks on this machine: "
                "%d%s",
                l->launch->output, l->launch->mpirun->command, now - l->begun, l->told, expected);
        }
    }
    if (now - l->renewed >= LEASE_RENEW_SECONDS) {
        l->renewed = now;
        lease_renew(
            l->launch->lease, &ignored); /* if this fails, it is the coordinator that must stop writing */
    }
    /* Is the coordinator gone, or not going to come? Before it has joined this is a guess: it may be late. */
    bool gone = l->news.stage == STAGE_ENDED || l->news.dead || l->error.status >= 0;
    if (l->news.stage == STAGE_NONE)
        gone = rank_processes_lost(&l->ranks, l->expected, now) || now - l->begun > l->patience;
    if (!gone)
        l->gone = 0;
    else if (l->gone == 0)
        l->gone = now;
    if (signals_stop() && l->stopped == 0)
        l->stopped = now;
}

static void watch_mpirun(struct launcher *l)
{
    while (!l->reaped) {
        double clock = clock_now();
        l->now += fmin(clock - l->clock, GAP_MOST);
        l->clock = clock;
        look_at_ranks(l, l->now);
        bool starting = l->news.stage < STAGE_READY, joined = l->news.stage != STAGE_NONE;
        bool overdue = (l->gone > 0 && l->now - l->gone > GRACE_SECONDS) ||
                       (joined && l->now - l->beaten > HUNG_SECONDS) ||
                       (l->stopped > 0 && starting && l->now - l->stopped > START_SECONDS);
        if (signals_second() || overdue) { /* it does not end by itself, or not soon enough */
            end(l);
        } else {
            if (signals_stop() && !l->asked && l->news.stage == STAGE_READY) {
                kill(l->ranks.mpirun, SIGUSR1);
                l->asked = true;
            }
            wait_a_moment(l, 50);
        }
    }
    pump_finish(&l->out);
    pump_finish(&l->error);
}

/* LOST: an end of mpirun that is neither an exit status nor an error; mpirun can be started again. */
enum { LOST = -2, STATUS_SIGNAL = 128 };

/* mpirun has ended before a coordinator joined the lease. A coordinator that could not join has printed
 * why; one that was killed has not, nor those that Open MPI 5 ends with it. Was a rank killed? MPICH's
 * mpiexec then ends with the number of the signal, and with 255 if it cannot start ranks. */
static int judge_start(const struct launcher *l, struct error *error)
{
    int status = WIFEXITED(l->ended) ? WEXITSTATUS(l->ended) : STATUS_SIGNAL;
    const char *hosts = l->launch->mpirun->hosts, *command = l->launch->mpirun->command;
    bool killed = status == 0 || status >= STATUS_SIGNAL || l->ranks.most > 0;
    bool told = l->error.last[0] != '\0' && l->error.last[0] != '['; /* [HOST:PROCESS]: of MPI */
    bool foreign = hosts && status != ERROR_INPUT && status != ERROR_ENVIRONMENT; /* a line of ssh */

    if (l->put_down)
        return LOST;
    if (told && !foreign)
        return WIFEXITED(l->ended) && status == ERROR_INPUT ? ERROR_INPUT : ERROR_ENVIRONMENT;
    if (is_hydra(l) && WIFEXITED(l->ended))
        killed = status < STATUS_SIGNAL || l->ranks.most > 0;
    if (killed && !told)
        return LOST;
    if (hosts)
        return error_set(error, ERROR_ENVIRONMENT,
            "%s: %s could not begin on these hosts; each must let this one in without a password: ssh HOST "
            "true",
            hosts, command);
    return error_set(error, ERROR_ENVIRONMENT, "%s: ended before the sweep could begin", command);
}

static int judge(struct launcher *l, struct error *error)
{
    hear(l);
    bool whole = l->news.status == STATUS_DONE || l->news.status == STATUS_RUNS_FAILED;
    if (l->news.stage == STAGE_ENDED && whole)
        return l->news.status; /* a second SIGINT came too late to cost anything */
    if (signals_second())
        return STATUS_INTERRUPTED;
    if (l->news.stage == STAGE_ENDED) {
        /* Did it stop without being asked to? When this process ends mpirun, ranks take the SIGTERM for a
         * request. */
        bool unasked = l->news.status == STATUS_STOPPED && l->put_down && !signals_stop();
        return unasked || l->news.status == STATUS_ABANDONED ? LOST : l->news.status;
    }
    if (l->error.status >= 0)
        return l->error.status;
    bool refused = l->news.stage == STAGE_NONE && l->error.last[0];
    if (l->news.stage < STAGE_READY && signals_stop() && !refused)
        return STATUS_STOPPED;
    if (l->news.stage == STAGE_NONE)
        return judge_start(l, error);
    return lease_renew(l->launch->lease, error) == 0 ? LOST : -1;
}

static void kill_left(void *context, long pid, long parent)
{
    (void)context, (void)parent;
    kill((pid_t)pid, SIGKILL);
}

/* One life of mpirun, from its start to its end. */
static int run_once(struct launcher *l, const struct command_line *line, struct error *error)
{
    const struct launch *launch = l->launch;

    if (lease_begin_life(launch->lease, error) != 0 || start_mpirun(l, line, error) != 0)
        return -1;
    rank_processes_init(&l->ranks, l->mpirun, is_hydra(l), l->now);
    l->ranks.release_5 = launch->mpirun->release >= 5;
    watch_mpirun(l);
    const struct process *mpirun = &l->ranks.mpirun_process;
    if (l->ranks.mpirun != l->mpirun && process_lives(mpirun)) { /* it has outlived the script around it */
        double begin = clock_now();
        kill(l->ranks.mpirun, SIGTERM);
        while (process_lives(mpirun) && clock_now() - begin < TERM_SECONDS)
            clock_pause(0.02);
        if (process_lives(mpirun))
            kill(l->ranks.mpirun, SIGKILL);
    }
    process_walk(getpid(), kill_left, NULL); /* such as an ssh to a host that was lost */
    rank_processes_tidy(&l->ranks);
    int status = judge(l, error);
    bool failed = status == ERROR_INPUT || status == ERROR_ENVIRONMENT;
    if ((status == -1 || failed) && !l->error.last[0])
        pump_tell_noise(&l->error);
    if (failed)
        error_set(error, (enum error_status)status, "%s", l->error.last);
    return status;
}

/* After a lost life, with so many `starts` in a row without progress: LOST if there will be another,
 * otherwise the exit status or -1. */
static int judge_loss(const struct launcher *l, int starts, struct error *error)
{
    const struct launch *launch = l->launch;
    const char *lost = is_hydra(l) ? "a rank was lost, and with it all others" : "the coordinator was lost";

    if (signals_stop())
        return STATUS_STOPPED;
    if (l->news.stage == STAGE_NONE && l->ranks.most == 0 && !l->put_down)
        lost = "mpirun ended before the sweep began";
    else if (l->news.stage == STAGE_NONE || l->news.status == STATUS_STOPPED)
        lost = "a rank was lost before the sweep began";
    else if (l->news.stage == STAGE_ENDED)
        lost = "no worker is left";
    if (starts > STARTS_MOST)
        return error_set(error, ERROR_ENVIRONMENT,
            "%s: %s, %d times in a row without progress; all results are kept, run the same command again to "
            "continue",
            launch->output, lost, starts);
    lines_print(stderr, 0, "%s: %s; starting again", launch->output, lost);
    launch->observer.restarts(launch->observer.context, lost);
    return LOST;
}

/*
 * Gives mpirun 4 a session folder that no other one shares: they have a parent that each removes when it
 * ends, and one that begins at that moment fails ("A call to mkdir was unable to create the desired
 * directory"). Returns its path, to be freed; NULL: mpirun makes do with the shared one. rank_processes_tidy
 * looks there for what a killed mpirun has left.
 */
static char *own_folder(const struct mpirun *mpirun, const struct hosts *hosts)
{
    const char *variable, *folder = mpirun_folder(&variable);

    if (mpirun->release != 4 || hosts->count != 1)
        return NULL;
    char *path = memory_format("%s/normsweep-XXXXXX", folder);
    if (mkdtemp(path) && setenv(SESSION_VARIABLE, path, 1) == 0)
        return path;
    free(path);
    return NULL;
}

/*
 * Finds the hosts, and sets mpirun's variables for them, in this process, which it inherits them from: a
 * second call would take them for the user's. Returns the number of ranks to start; 0: as many as the
 * allocation has slots.
 *
 * Ranks of one host need no network: each would listen on all interfaces, where ranks of other jobs reach it
 * by mistake. On several hosts they connect on the network that the hosts share. What the user has set stays,
 * for one host only what is set in the environment, since shared memory is always right there. Open MPI 5 has
 * other names for most of the network, and is left alone on several hosts.
 *
 * Without a number of workers each slot trains, and the coordinator, which sleeps, is one rank more. With
 * Slurm it is one of the tasks that the user has counted.
 */
static int prepare_hosts(const struct launch *launch, bool allocation, char **folder)
{
    int workers = launch->workers, ranks = workers > 0 ? workers + 1 : 0, release = launch->mpirun->release;
    bool chosen = getenv("OMPI_MCA_btl") || getenv("OMPI_MCA_pml");
    char network[NETWORK_SIZE], spares[16];
    struct hosts hosts = {0};

    if (release > 0 && allocation) {
        char *map = mpirun_map(launch->mpirun);
        hosts = hosts_parse(map);
        free(map);
    } else if (release > 0) {
        hosts = hosts_here();
        /* A file of parameters may name other hosts. */
        setenv(mpirun_hostfile_variable(launch->mpirun), "none", 1);
    }
    if (workers == 0 && !getenv("SLURM_JOB_ID"))
        workers = hosts_slots(&hosts);
    if (hosts.count > 0)
        ranks = hosts_ranks(&hosts, workers, launch->spares);
    if (hosts.count == 1 && !chosen) {
        setenv("OMPI_MCA_btl", release >= 5 ? "self,sm" : "self,vader", 1);
        setenv("OMPI_MCA_pml", "ob1", 1);
    } else if (hosts.count > 1 && release < 5 && hosts_network(&hosts, network) && mpirun_may_set_network()) {
        setenv("OMPI_MCA_btl_tcp_if_include", network, 1);
        setenv("OMPI_MCA_oob_tcp_if_include", network, 1);
    }
    /* How long daemons wait for the host of mpirun when it is lost: 100 s in all, by default 8 minutes. */
    if (hosts.count > 1 && release < 5 && !getenv("OMPI_MCA_oob_tcp_keepalive_time")) {
        setenv("OMPI_MCA_oob_tcp_keepalive_time", "60", 1);
        setenv("OMPI_MCA_oob_tcp_keepalive_intvl", "10", 1);
        setenv("OMPI_MCA_oob_tcp_keepalive_probes", "4", 1);
    }
    *folder = own_folder(launch->mpirun, &hosts);
    snprintf(spares, sizeof(spares), "%d", hosts.count > 0 ? launch->spares : 0);
    setenv(SPARES_VARIABLE, spares, 1);
    hosts_release(&hosts);
    return ranks;
}

/* Starts mpirun, and again as long as it is lost; not at all if a stop was requested while the output was
 * made. */
int launcher_run(const struct launch *launch, struct error *error)
{
    struct command_line line = {.count = 0};
    bool allocation = mpirun_has_allocation(launch->mpirun), elsewhere = launch->workers == 0 || allocation;
    char *folder;
    int ranks = prepare_hosts(launch, allocation, &folder), starts = 0;
    int status = compose(&line, launch, ranks, error) != 0 ? -1 : LOST;

    prctl(PR_SET_CHILD_SUBREAPER, 1); /* what mpirun leaves can be found */
    signals_end_at_second(false);
    if (status == LOST && signals_stop())
        status = STATUS_STOPPED;
    while (status == LOST) {
        struct launcher launcher = {.launch = launch,
            .told = -1,
            .expected = elsewhere ? 0 : ranks,
            .patience = elsewhere ? INIT_SECONDS_ALLOCATION : INIT_SECONDS};
        launcher.clock = launcher.now = launcher.begun = launcher.renewed = clock_now();
        status = run_once(&launcher, &line, error);
        if (status != LOST)
            break;
        /* A hanging coordinator that outlives its mpirun must not run beside the next one. */
        const struct process *coordinator = &launcher.news.process;
        if (launcher.news.stage != STAGE_NONE && process_is_here(coordinator) && process_lives(coordinator))
            kill((pid_t)coordinator->pid, SIGKILL);
        starts = launcher.news.kept ? 0 : starts + 1;
        status = judge_loss(&launcher, starts, error);
        if (status == -1 && launcher.news.stage == STAGE_NONE)
            pump_tell_noise(&launcher.error); /* mpirun may have said why */
    }
    if (folder)
        rmdir(folder); /* fails if mpirun has left anything in it */
    free(folder);
    free((void *)line.argument);
    free(line.program);
    return status;
}
