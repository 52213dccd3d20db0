#pragma once
#include <microhttpd.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/types.h>

/*
 * Variadic functions cannot be called from Swift: here they are with fixed parameters.
 */

struct mhd_shim_settings {
    unsigned int flags;
    int listening_socket;
    unsigned int connection_limit;
    size_t connection_memory;
    void *context;
    MHD_AcceptPolicyCallback accept_policy;
    MHD_NotifyConnectionCallback connection_changed;
    void *(*request_began)(void *context, const char *uri, struct MHD_Connection *connection);
    MHD_AccessHandlerCallback request_advanced;
    MHD_RequestCompletedCallback request_ended;
    size_t (*unescape)(void *context, struct MHD_Connection *connection, char *text);
};

/* What the library is about to say of a request it says to its log first. */
struct mhd_shim_listener {
    void (*length_refused)(void *context);
    void *context;
};

static inline void mhd_shim_heard(void *listener, const char *format, va_list arguments) {
    const struct mhd_shim_listener *to = listener;
    (void)arguments;
    if (strstr(format, "Content-Length") != NULL) {
        to->length_refused(to->context);
    }
}

/* The listener is freed once the daemon is stopped, or did not start. */
static inline struct MHD_Daemon *mhd_shim_start(
    const struct mhd_shim_settings *settings, struct mhd_shim_listener *listener) {
    return MHD_start_daemon(
        settings->flags | MHD_USE_ERROR_LOG, 0, settings->accept_policy, settings->context,
        settings->request_advanced, settings->context,
        /* The first of all, so that nothing is said before it. */
        MHD_OPTION_EXTERNAL_LOGGER, mhd_shim_heard, (void *)listener,
        MHD_OPTION_LISTEN_SOCKET, (MHD_socket)settings->listening_socket,
        MHD_OPTION_CONNECTION_LIMIT, settings->connection_limit,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, settings->connection_memory,
        MHD_OPTION_NOTIFY_CONNECTION, settings->connection_changed, settings->context,
        MHD_OPTION_URI_LOG_CALLBACK, settings->request_began, settings->context,
        MHD_OPTION_NOTIFY_COMPLETED, settings->request_ended, settings->context,
        MHD_OPTION_UNESCAPE_CALLBACK, settings->unescape, settings->context,
        MHD_OPTION_STRICT_FOR_CLIENT, 0,
        MHD_OPTION_END);
}

static inline int mhd_shim_epoll(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info == NULL ? -1 : info->epoll_fd;
}

static inline int mhd_shim_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : info->connect_fd;
}

static inline const struct sockaddr *mhd_shim_client(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info == NULL ? NULL : info->client_addr;
}

static inline void *mhd_shim_connection_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

static inline size_t mhd_shim_header_bytes(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info == NULL ? SIZE_MAX : info->header_size;
}

/*
 * The body of such a response ends with its connection. libmicrohttpd 0.9.75 sends a last chunk also to
 * a HEAD request, where the client takes it for the begin of the next response.
 */
static inline enum MHD_Result mhd_shim_unchunk(struct MHD_Response *response) {
    return MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}

/*
 * libmicrohttpd takes a suspended connection out of its own epoll set: who hangs up there is told by
 * another. It tells once of each.
 */

static inline int mhd_shim_hang_ups(void) { return epoll_create1(EPOLL_CLOEXEC); }

static inline int mhd_shim_watch(int hang_ups, int socket) {
    struct epoll_event event = {.events = EPOLLRDHUP | EPOLLONESHOT, .data = {.fd = socket}};
    return epoll_ctl(hang_ups, EPOLL_CTL_ADD, socket, &event);
}

static inline int mhd_shim_forget(int hang_ups, int socket) {
    return epoll_ctl(hang_ups, EPOLL_CTL_DEL, socket, NULL);
}

/* The socket of a client that has hung up, or -1. */
static inline int mhd_shim_hung_up(int hang_ups) {
    struct epoll_event event;
    return epoll_wait(hang_ups, &event, 1, 0) == 1 ? event.data.fd : -1;
}
