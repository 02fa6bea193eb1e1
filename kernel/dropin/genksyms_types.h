/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the version of a symbol depends on and no public header says.
 *
 * A version is a hash over all types that a prototype reaches, as far as they
 * were seen. Every symbol of rdma_cm reaches struct ib_device, and that reaches
 * this type of ib_core. It is for genksyms alone: the compiler does not see
 * it. genksyms takes no notice of types defined in the source file itself, so
 * this has to be a header.
 */
#ifndef RCM_GENKSYMS_TYPES_H
#define RCM_GENKSYMS_TYPES_H

#ifdef __GENKSYMS__
struct rdma_restrack_root {
	struct xarray xa;
	u32 next_id;
};
#endif

#endif /* RCM_GENKSYMS_TYPES_H */
