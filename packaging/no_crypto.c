// In place of libcrypto in the Python package's library, which reads event logs: they have no digest
// and no signature of OpenSSL's. The room `base` has functions that use it, in the same objects as
// those that are needed, and libcrypto would be two thirds of the library. None of these is ever
// called; one that is, ends the process by name. A function that is missing here fails the link.
#include <stdio.h>
#include <stdlib.h>

#define NEVER(name)                                                            \
  void name(void) {                                                            \
    fputs("assay: " #name " was called where no cryptography is\n", stderr);   \
    abort();                                                                   \
  }

NEVER(BIO_ctrl)
NEVER(BIO_free)
NEVER(BIO_new)
NEVER(BIO_new_mem_buf)
NEVER(BIO_s_mem)
NEVER(CRYPTO_free)
NEVER(EVP_Digest)
NEVER(EVP_DigestFinal_ex)
NEVER(EVP_DigestInit_ex)
NEVER(EVP_DigestSign)
NEVER(EVP_DigestSignInit)
NEVER(EVP_DigestUpdate)
NEVER(EVP_DigestVerify)
NEVER(EVP_DigestVerifyInit)
NEVER(EVP_MD_CTX_free)
NEVER(EVP_MD_CTX_new)
NEVER(EVP_PKEY_Q_keygen)
NEVER(EVP_PKEY_free)
NEVER(EVP_PKEY_get_id)
NEVER(EVP_sha256)
NEVER(PEM_read_bio_PUBKEY)
NEVER(PEM_read_bio_PrivateKey)
NEVER(PEM_write_bio_PUBKEY)
NEVER(PEM_write_bio_PrivateKey)
NEVER(i2d_PUBKEY)
