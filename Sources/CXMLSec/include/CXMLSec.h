#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What is read of libxml2 and libxmlsec1: a document that was parsed with everything off that reads elsewhere,
// its nodes, and the check of one signature. Which documents are good is not decided here.

struct xml_document;
// An element, an attribute, a text or what else stands between tags. Lives as long as its document.
struct xml_node;

struct xml_limits {
    // How deep elements stand in one another.
    int depth;
    int elements;
    // Of one element, declarations of namespaces among them.
    int attributes;
};

enum xml_fault {
    xml_fault_none = 0,
    xml_fault_malformed,
    // It has a DOCTYPE, which is not read.
    xml_fault_document_type,
    xml_fault_limits,
    xml_fault_memory,
};

enum xml_kind {
    xml_kind_element,
    // Plain, or in a CDATA section.
    xml_kind_text,
    xml_kind_comment,
    xml_kind_instruction,
    xml_kind_other,
};

enum xml_signature {
    xml_signature_good = 0,
    xml_signature_bad,
    // The library could not be started, or has no memory.
    xml_signature_failed,
};

// The bytes are read as UTF-8, also where the document declares another encoding. Returns NULL and sets the
// fault where they are no document within the limits.
struct xml_document *xml_document_read(
    const uint8_t *bytes, int count, struct xml_limits limits, enum xml_fault *fault);
void xml_document_free(struct xml_document *document);

// The first node, among comments and instructions around the root.
const struct xml_node *xml_document_first(const struct xml_document *document);

enum xml_kind xml_node_kind(const struct xml_node *node);
// Of an attribute these are its texts.
const struct xml_node *xml_node_first(const struct xml_node *node);
const struct xml_node *xml_node_first_attribute(const struct xml_node *element);
// The next sibling; of an attribute the next attribute.
const struct xml_node *xml_node_next(const struct xml_node *node);
// Of an element or an attribute, without a prefix.
const char *xml_node_name(const struct xml_node *node);
// The namespace of an element or an attribute; empty where it has none.
const char *xml_node_space(const struct xml_node *node);
// Of a text.
const char *xml_node_text(const struct xml_node *node);

// Whether the first signature among the root's children is one over the element that has the root's attribute `ID`,
// by this key, a SubjectPublicKeyInfo, and by no other. `covered` gets the very bytes that were digested, and is
// freed by xml_bytes_free; NULL where the signature is not good.
//
// What is wrong in any use is refused here too: other addresses than `#ID`, other transforms than the enveloped
// signature and exclusive canonicalization without comments, hashes before SHA-2, keys that both sides know.
enum xml_signature xml_document_verify(
    struct xml_document *document, const uint8_t *key, size_t key_count, uint8_t **covered,
    size_t *covered_count);
void xml_bytes_free(uint8_t *bytes);
