internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Events to take away, in the forms that other tools read.
enum ExportRoutes {
    /// - Parameter version: of Urd.
    static func table(version: String) -> [Route<AdminContext>] { [export(version)] }

    private static func export(_ version: String) -> Route<AdminContext> {
        Route<AdminContext>(
            .get, "/api/admin/realms/{realm}/export", id: "exportEvents", tag: "Log",
            summary: "Export the events of a realm.",
            detail: """
                Up to the end of the log as it is when the export begins. The last line, of the type \
                `urd.export_end`, has the number of the events, the SHA-256 of the lines before it, the newest \
                checkpoint, and the `cursor` behind which the next export goes on. An export without it is not \
                whole: ask for what is behind the last cursor that came. Personal fields stay sealed.
                """, right: .realm, permission: .eventsRead,
            parameters: [
                .realm,
                Parameter(
                    "format", in: .query, .oneOf(ExportForm.Format.allCases.map(\.rawValue)),
                    "Format: lines of JSON as in the list of events (default), CSV (RFC "
                        + "4180), OCSF \(OCSFTable.version), or CloudEvents 1.0."),
                LogLists.after,
                Parameter(
                    "from", in: .query, AsOfMoment.schema,
                    "First position of the export, or the time or day behind which it begins.",
                    example: "1"),
                Parameter(
                    "to", in: .query, AsOfMoment.schema,
                    "Last position, time or day of the export; the end of the log by default.",
                    example: "2099-01-01"),
            ] + EventConditions.parameters + [FilterText.parameter],
            answer: Answer(
                status: .ok, description: "The events.",
                content: .stream(["application/x-ndjson", "text/csv"]),
                headers: [("Urd-Export-Cursor", "Cursor behind which the next export continues.")]),
            refusals: [
                .noSuchRealm, .positionLost, .positionNotReached, .logDamaged, .tooManyFeeds, .busy,
                .invalidFilter,
            ]
        ) { call throws(Problem) in try await call.export(version) }
    }
}

extension Call<AdminContext> {
    fileprivate func export(_ version: String) async throws(Problem) -> Response {
        let realm = try realm
        let place = try await logPlace()
        if place.epochs.head.epoch == 0 {
            try await knownLog()
            throw Problem(.noSuchRealm)
        }
        let format = text("format").flatMap(ExportForm.Format.init) ?? .ndjson
        let end = try await moment(asWritten: text("to"), "to")
        let start = try await exportStart(behind: place.position)
        if text("from") != nil, start > end.position {
            throw Problem(
                .invalidParameter,
                "from is position \(start + 1), which is behind to, \(end.position).",
                field: "from")
        }
        let choice = try await exportChoice(upTo: end)
        let form = ExportForm(
            format: format,
            issuer: [.cloudevents, .ocsf].contains(format) && realm != .system
                ? try await cloudSource() : "",
            version: version)
        let cursor = LogCursor(epoch: end.epoch, position: max(start, end.position))
        let stream = ExportStream(
            context: context, realm: realm, form: form,
            choice: choice,
            start: LogCursor(epoch: end.epoch, position: start), end: cursor.position,
            place: try context.feeds.place(for: context.feedHolder(of: caller)))
        var response = Response(status: .ok, stream: BodyStream { try await stream.run($0) })
        response.headers["Content-Type"] = format.mediaType
        response.headers["Content-Disposition"] =
            "attachment; filename=\"\(realm).\(format.fileExtension)\""
        response.headers["Urd-Export-Cursor"] = cursor.description
        return response.compressed(for: request)
    }

    /// Which events are wanted. What asks the index waits until it is there, so that the lines follow without a break.
    private func exportChoice(upTo end: AsOfMoment) async throws(Problem) -> ExportStream.Choice {
        var filter = try EventConditions.filter(self)
        var subjects = EventSubjects(index: context.queries, realm: try realm)
        let asked = try await self.filter(EventAttributes.ofEvents)
        if asked?.asksIndex == true {
            try await wait(for: .eventIndex, upTo: end)
            subjects.expression = asked
        } else {
            filter.expression = asked
        }
        return ExportStream.Choice(
            filter: filter, subjects: subjects.isEmpty ? nil : subjects,
            written: try writtenFilter(asked))
    }

    /// As it was given; but no address stands in a file, where the log has an id or a pseudonym for it.
    private func writtenFilter(_ asked: FilterExpression?) throws(Problem) -> String? {
        guard let asked, let text = text(FilterText.parameter.name) else { return nil }
        let given = try FilterText.expression(of: text, EventAttributes.ofEvents)
        return given.comparisons.contains { $0.attribute.source == .stand } ? asked.text : text
    }

    /// The position behind which an export begins: behind the cursor and what `from` names, whichever is later.
    fileprivate func exportStart(behind position: Int64) async throws(Problem) -> Int64 {
        guard let written = text("from") else { return position }
        return max(position, try await rangeStart(asWritten: written, "from"))
    }
}
