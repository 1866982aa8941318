/* SPDX-License-Identifier: BSD-3-Clause */
/* Libraries that stand for those of Omni-Path and InfiniPath where a machine has
 * no such NIC: libpsm2.so.2, and with ABSENT_PSM1 libpsm_infinipath.so.1.
 * libfabric of Debian is linked with both, and each measures the
 * processor's clock for 0.1 s when it is loaded; these do nothing, and each of
 * their calls fails.  ofi/net/ofi_absent.c loads them before libfabric. */

/* A code of neither success nor "no progress". */
enum { FAILED = 8 };

#define FAILS(name) int name(void); int name(void) { return FAILED; }
#define NOTHING(name) void *name(void); void *name(void) { return 0; }
#define TEXT(name) const char *name(void); \
    const char *name(void) { return "there is no such NIC"; }

#ifdef ABSENT_PSM1
#define ALL(F) F(psm_am_get_parameters) F(psm_am_register_handlers) \
    F(psm_am_reply_short) F(psm_am_request_short) F(psm_ep_close) \
    F(psm_ep_connect) F(psm_ep_epid_lookup) F(psm_ep_epid_share_memory) \
    F(psm_ep_num_devunits) F(psm_ep_open) F(psm_ep_open_opts_get_defaults) \
    F(psm_ep_query) F(psm_epaddr_setctxt) F(psm_epaddr_setlabel) \
    F(psm_error_defer) F(psm_error_register_handler) F(psm_finalize) \
    F(psm_getopt) F(psm_init) F(psm_map_nid_hostname) F(psm_mq_cancel) \
    F(psm_mq_finalize) F(psm_mq_get_stats) F(psm_mq_getopt) F(psm_mq_init) \
    F(psm_mq_ipeek) F(psm_mq_iprobe) F(psm_mq_irecv) F(psm_mq_isend) \
    F(psm_mq_send) F(psm_mq_setopt) F(psm_mq_test) F(psm_mq_wait) F(psm_poll) \
    F(psm_setopt) F(psm_uuid_generate)
NOTHING(psm_epaddr_getctxt)
NOTHING(psm_epid_context)
NOTHING(psm_epid_nid)
NOTHING(psm_epid_port)
TEXT(psm_error_get_string)
#else
#define ALL(F) F(psm2_am_get_parameters) F(psm2_am_get_source) \
    F(psm2_am_register_handlers) F(psm2_am_register_handlers_2) \
    F(psm2_am_reply_short) F(psm2_am_request_short) \
    F(psm2_am_unregister_handlers) F(psm2_ep_close) F(psm2_ep_connect) \
    F(psm2_ep_disconnect) F(psm2_ep_disconnect2) F(psm2_ep_epid_lookup) \
    F(psm2_ep_epid_lookup2) F(psm2_ep_epid_share_memory) \
    F(psm2_ep_num_devunits) F(psm2_ep_open) F(psm2_ep_open_opts_get_defaults) \
    F(psm2_ep_query) F(psm2_epaddr_setctxt) F(psm2_epaddr_setlabel) \
    F(psm2_epaddr_to_epid) F(psm2_error_defer) F(psm2_error_register_handler) \
    F(psm2_finalize) F(psm2_getopt) F(psm2_info_query) F(psm2_init) \
    F(psm2_map_nid_hostname) F(psm2_mq_cancel) F(psm2_mq_finalize) \
    F(psm2_mq_fp_msg) F(psm2_mq_get_stats) F(psm2_mq_getopt) \
    F(psm2_mq_improbe) F(psm2_mq_improbe2) F(psm2_mq_imrecv) F(psm2_mq_init) \
    F(psm2_mq_ipeek) F(psm2_mq_ipeek2) F(psm2_mq_ipeek_dequeue) \
    F(psm2_mq_ipeek_dequeue_multi) F(psm2_mq_iprobe) F(psm2_mq_iprobe2) \
    F(psm2_mq_irecv) F(psm2_mq_irecv2) F(psm2_mq_isend) F(psm2_mq_isend2) \
    F(psm2_mq_req_free) F(psm2_mq_send) F(psm2_mq_send2) F(psm2_mq_setopt) \
    F(psm2_mq_test) F(psm2_mq_test2) F(psm2_mq_wait) F(psm2_mq_wait2) \
    F(psm2_poll) F(psm2_setopt) F(psm2_uuid_generate)
NOTHING(psm2_epaddr_getctxt)
NOTHING(psm2_epid_context)
NOTHING(psm2_epid_nid)
NOTHING(psm2_epid_port)
NOTHING(psm2_get_capability_mask)
TEXT(psm2_error_get_string)
#endif
ALL(FAILS)
