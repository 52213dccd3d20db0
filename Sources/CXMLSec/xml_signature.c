#include "CXMLSec.h"
#include "xmlsec.h"

#include <libxml/parser.h>
#include <libxml/tree.h>
#include <libxml/valid.h>
#include <libxml/xmlerror.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static bool started;

// Both libraries write to the standard error unless they are told otherwise.
static void say_nothing(
    const char *file, int line, const char *func, const char *object, const char *subject,
    int reason, const char *message) {
    (void)file;
    (void)line;
    (void)func;
    (void)object;
    (void)subject;
    (void)reason;
    (void)message;
}

static void print_nothing(void *context, const char *format, ...) {
    (void)context;
    (void)format;
}

static void start(void) {
    xmlInitParser();
    started = xmlSecInit() == 0 && xmlSecCheckVersion() == 1 && xmlSecCryptoInit() == 0;
    xmlSecErrorsSetCallback(say_nothing);
}

static xmlSecKeyPtr read_key(const uint8_t *bytes, size_t count) {
    const unsigned char *position = bytes;
    EVP_PKEY *read = d2i_PUBKEY(NULL, &position, (long)count);
    xmlSecKeyDataPtr value = read == NULL ? NULL : xmlSecOpenSSLEvpKeyAdopt(read);
    xmlSecKeyPtr key = value == NULL ? NULL : xmlSecKeyCreate();
    if (key != NULL && xmlSecKeySetValue(key, value) == 0)
        return key;
    if (key != NULL)
        xmlSecKeyDestroy(key);
    if (value != NULL)
        xmlSecKeyDataDestroy(value);
    else
        EVP_PKEY_free(read);
    return NULL;
}

// Lets the attribute `ID` of the root name it, and nothing else by the same name.
static bool name_root(xmlDocPtr document, xmlNodePtr root) {
    xmlAttrPtr attribute = xmlHasNsProp(root, BAD_CAST "ID", NULL);
    xmlChar *name = attribute == NULL ? NULL : xmlNodeListGetString(document, attribute->children, 1);
    bool done = false;
    if (name != NULL) {
        if (xmlGetID(document, name) == NULL)
            xmlAddID(NULL, document, name, attribute);
        done = xmlGetID(document, name) == attribute;
    }
    xmlFree(name);
    return done;
}

static bool allow(xmlSecDSigCtxPtr context) {
    xmlSecTransformId ofReference[] = {
        xmlSecTransformEnvelopedId, xmlSecTransformExclC14NId, xmlSecTransformSha256Id,
        xmlSecTransformSha384Id,    xmlSecTransformSha512Id,
    };
    xmlSecTransformId ofSignature[] = {
        xmlSecTransformExclC14NId,    xmlSecTransformRsaSha256Id,   xmlSecTransformRsaSha384Id,
        xmlSecTransformRsaSha512Id,   xmlSecTransformEcdsaSha256Id, xmlSecTransformEcdsaSha384Id,
    };
    size_t index;
    for (index = 0; index < sizeof ofReference / sizeof *ofReference; index++)
        if (xmlSecDSigCtxEnableReferenceTransform(context, ofReference[index]) != 0)
            return false;
    for (index = 0; index < sizeof ofSignature / sizeof *ofSignature; index++)
        if (xmlSecDSigCtxEnableSignatureTransform(context, ofSignature[index]) != 0)
            return false;
    context->enabledReferenceUris = xmlSecTransformUriTypeSameDocument;
    context->flags |= XMLSEC_DSIG_FLAGS_STORE_SIGNEDINFO_REFERENCES
        | XMLSEC_DSIG_FLAGS_IGNORE_MANIFESTS;
    return true;
}

// A copy of what the only reference digested; NULL where there are more, or it was not right.
static uint8_t *copy_covered(xmlSecDSigCtxPtr context, size_t *count) {
    xmlSecDSigReferenceCtxPtr reference;
    xmlSecBufferPtr buffer;
    uint8_t *copy;
    if (xmlSecPtrListGetSize(&context->signedInfoReferences) != 1)
        return NULL;
    reference = xmlSecPtrListGetItem(&context->signedInfoReferences, 0);
    if (reference == NULL || reference->status != xmlSecDSigStatusSucceeded)
        return NULL;
    buffer = xmlSecDSigReferenceCtxGetPreDigestBuffer(reference);
    if (buffer == NULL || xmlSecBufferGetSize(buffer) == 0)
        return NULL;
    *count = xmlSecBufferGetSize(buffer);
    copy = malloc(*count);
    if (copy != NULL)
        memcpy(copy, xmlSecBufferGetData(buffer), *count);
    return copy;
}

enum xml_signature xml_document_verify(
    struct xml_document *of, const uint8_t *key, size_t key_count, uint8_t **covered,
    size_t *covered_count) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    xmlDocPtr document = (xmlDocPtr)of;
    xmlNodePtr root = xmlDocGetRootElement(document);
    xmlNodePtr signature = NULL;
    xmlSecDSigCtxPtr context = NULL;
    enum xml_signature verdict = xml_signature_failed;
    *covered = NULL;
    *covered_count = 0;
    pthread_once(&once, start);
    if (started)
        context = xmlSecDSigCtxCreate(NULL);
    if (context == NULL)
        return verdict;
    xmlSetGenericErrorFunc(NULL, print_nothing);
    // With a key of ours and no manager of keys, nothing is read of KeyInfo.
    context->signKey = read_key(key, key_count);
    if (root != NULL)
        signature = xmlSecFindChild(root, xmlSecNodeSignature, xmlSecDSigNs);
    if (context->signKey != NULL && allow(context)) {
        verdict = xml_signature_bad;
        if (signature != NULL && name_root(document, root)
            && xmlSecDSigCtxVerify(context, signature) == 0
            && context->status == xmlSecDSigStatusSucceeded) {
            *covered = copy_covered(context, covered_count);
            if (*covered != NULL)
                verdict = xml_signature_good;
        }
    }
    xmlSecDSigCtxDestroy(context);
    ERR_clear_error();
    return verdict;
}

void xml_bytes_free(uint8_t *bytes) { free(bytes); }
