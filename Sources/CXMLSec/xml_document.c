#include "CXMLSec.h"

#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/tree.h>

#include <pthread.h>

struct reading {
    struct xml_limits limits;
    int elements;
    enum xml_fault fault;
};

static void stop(xmlParserCtxtPtr parser, enum xml_fault fault) {
    struct reading *reading = parser->_private;
    if (reading->fault == xml_fault_none)
        reading->fault = fault;
    xmlStopParser(parser);
}

// Called when the name of the document type was read, and nothing of what it declares.
static void found_document_type(
    void *parser, const xmlChar *name, const xmlChar *public_id, const xmlChar *system_id) {
    (void)name;
    (void)public_id;
    (void)system_id;
    stop(parser, xml_fault_document_type);
}

static void start_element(
    void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *space,
    int declarations, const xmlChar **declared, int attributes, int defaulted,
    const xmlChar **attribute) {
    xmlParserCtxtPtr parser = context;
    struct reading *reading = parser->_private;
    reading->elements += 1;
    if (reading->elements > reading->limits.elements || parser->nodeNr >= reading->limits.depth
        || declarations + attributes > reading->limits.attributes) {
        stop(parser, xml_fault_limits);
        return;
    }
    xmlSAX2StartElementNs(
        context, name, prefix, space, declarations, declared, attributes, defaulted, attribute);
}

struct xml_document *xml_document_read(
    const uint8_t *bytes, int count, struct xml_limits limits, enum xml_fault *fault) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct reading reading = {limits, 0, xml_fault_none};
    xmlParserCtxtPtr parser;
    xmlDocPtr document;
    pthread_once(&once, xmlInitParser);
    parser = xmlNewParserCtxt();
    if (parser == NULL) {
        *fault = xml_fault_memory;
        return NULL;
    }
    parser->_private = &reading;
    parser->sax->internalSubset = found_document_type;
    parser->sax->startElementNs = start_element;
    // Entities are not replaced and nothing is loaded: no DOCTYPE gets so far. The network is off all the same.
    document = xmlCtxtReadMemory(
        parser, (const char *)bytes, count, NULL, "UTF-8",
        XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    // A prefix that nobody declared is well-formed to XML alone.
    if (reading.fault == xml_fault_none
        && (document == NULL || !parser->wellFormed || !parser->nsWellFormed))
        reading.fault
            = parser->errNo == XML_ERR_NO_MEMORY ? xml_fault_memory : xml_fault_malformed;
    xmlFreeParserCtxt(parser);
    *fault = reading.fault;
    if (reading.fault == xml_fault_none)
        return (struct xml_document *)document;
    xmlFreeDoc(document);
    return NULL;
}

void xml_document_free(struct xml_document *document) { xmlFreeDoc((xmlDocPtr)document); }

const struct xml_node *xml_document_first(const struct xml_document *document) {
    return (const struct xml_node *)((const xmlDoc *)document)->children;
}

enum xml_kind xml_node_kind(const struct xml_node *node) {
    switch (((const xmlNode *)node)->type) {
    case XML_ELEMENT_NODE:
        return xml_kind_element;
    case XML_TEXT_NODE:
    case XML_CDATA_SECTION_NODE:
        return xml_kind_text;
    case XML_COMMENT_NODE:
        return xml_kind_comment;
    case XML_PI_NODE:
        return xml_kind_instruction;
    default:
        return xml_kind_other;
    }
}

// An attribute and an element begin with the same members.
const struct xml_node *xml_node_first(const struct xml_node *node) {
    return (const struct xml_node *)((const xmlNode *)node)->children;
}

const struct xml_node *xml_node_first_attribute(const struct xml_node *element) {
    return (const struct xml_node *)((const xmlNode *)element)->properties;
}

const struct xml_node *xml_node_next(const struct xml_node *node) {
    return (const struct xml_node *)((const xmlNode *)node)->next;
}

const char *xml_node_name(const struct xml_node *node) {
    return (const char *)((const xmlNode *)node)->name;
}

const char *xml_node_space(const struct xml_node *node) {
    const xmlNs *space = ((const xmlNode *)node)->type == XML_ATTRIBUTE_NODE
        ? ((const xmlAttr *)node)->ns
        : ((const xmlNode *)node)->ns;
    return space == NULL || space->href == NULL ? "" : (const char *)space->href;
}

const char *xml_node_text(const struct xml_node *node) {
    const xmlChar *content = ((const xmlNode *)node)->content;
    return content == NULL ? "" : (const char *)content;
}
