#if PostgreSQL
internal import CFreshetPostgreSQL
internal import Glibc

extension Connection {
    /// Runs statements in order, in one round trip. Those after one that fails are not run.
    ///
    /// Both directions are served at once, since a client that only sends and a server that only sends would wait for each other.
    ///
    /// - Returns: one result for each statement.
    /// - Throws: the first failure. A transaction that was open before has then failed, and has to be ended.
    package func exchange(_ requests: [Request], by deadline: Deadline) throws(PostgreSQLError) -> [QueryResult] {
        guard isUsable else { throw PostgreSQLError(.connectionLost, "the connection has ended") }
        forgetNotices()
        var expected: [Answer] = []
        expected.reserveCapacity(requests.count)
        // Until all answers have come, what the server has yet to send would be taken for the results of the next exchange.
        isUsable = false
        for request in requests { try send(request, &expected) }
        guard PQpipelineSync(handle) == 1 else { throw failure() }
        return try receive(expected, by: deadline)
    }

    /// Runs one statement.
    package func run(_ statement: Statement, _ parameters: Parameters = Parameters(), by deadline: Deadline) throws(PostgreSQLError)
        -> QueryResult
    {
        let results = try exchange([Request(statement, parameters)], by: deadline)
        guard let result = results.first else { throw PostgreSQLError(.misuse, "no result", statement: statement.name) }
        return result
    }

    /// Runs a constant text of statements without parameters, parted by semicolons, in one transaction unless they say otherwise.
    package func execute(_ script: StaticString, by deadline: Deadline) throws(PostgreSQLError) {
        guard isUsable else { throw PostgreSQLError(.connectionLost, "the connection has ended") }
        forgetNotices()
        guard PQexitPipelineMode(handle) == 1 else { throw failure() }
        defer { if isUsable, PQenterPipelineMode(handle) != 1 { isUsable = false } }
        guard PQsendQuery(handle, script.description) == 1 else { throw failure() }
        var first: PostgreSQLError?
        while let result = try next(by: deadline) {
            if let error = error(in: result, of: nil), first == nil { first = error }
            PQclear(result)
            if PQstatus(handle) == CONNECTION_BAD {
                isUsable = false
                break
            }
        }
        if let first { throw first }
    }

    /// What the server sends for one thing that was sent to it.
    private struct Answer {
        var statement: Statement
        /// The result says whether the statement is prepared, and has no rows.
        var isPreparation: Bool
    }

    private func send(_ request: Request, _ expected: inout [Answer]) throws(PostgreSQLError) {
        let (statement, parameters) = (request.statement, request.parameters)
        if !prepared.contains(statement.name), !expected.contains(where: { $0.isPreparation && $0.statement == statement }) {
            guard PQsendPrepare(handle, statement.name, statement.sql, 0, nil) == 1 else { throw failure(statement: statement.name) }
            expected.append(Answer(statement: statement, isPreparation: true))
        }
        guard Int32(exactly: parameters.byteCount) != nil else {
            throw PostgreSQLError(.value, state: "54000", "the parameters have more than 2 GiB", statement: statement.name)
        }
        let sent = parameters.withPointers { values, lengths, formats in
            PQsendQueryPrepared(handle, statement.name, Int32(parameters.count), values, lengths, formats, 1)
        }
        guard sent == 1 else { throw failure(statement: statement.name) }
        expected.append(Answer(statement: statement, isPreparation: false))
    }

    /// Takes the answers until the server has answered everything.
    private func receive(_ expected: [Answer], by deadline: Deadline) throws(PostgreSQLError) -> [QueryResult] {
        var results: [QueryResult] = []
        results.reserveCapacity(expected.count)
        var first: PostgreSQLError?
        var place = 0
        while true {
            guard let result = try next(by: deadline) else {
                // The end of one answer.
                place += 1
                guard PQstatus(handle) == CONNECTION_OK else { throw ended(first) }
                guard place <= expected.count else { throw first ?? failure() }
                continue
            }
            let status = PQresultStatus(result)
            if status == PGRES_PIPELINE_SYNC {
                PQclear(result)
                break
            }
            let answer = place < expected.count ? expected[place] : nil
            if let error = error(in: result, of: answer?.statement.name) {
                PQclear(result)
                if first == nil { first = error }
                if PQstatus(handle) == CONNECTION_BAD { throw ended(first) }
            } else if let answer, !answer.isPreparation, status != PGRES_PIPELINE_ABORTED {
                results.append(QueryResult(result, of: answer.statement.name))
            } else {
                if let answer, answer.isPreparation, status == PGRES_COMMAND_OK { prepared.insert(answer.statement.name) }
                PQclear(result)
            }
        }
        isUsable = PQstatus(handle) == CONNECTION_OK
        if let first { throw first }
        guard results.count == expected.count(where: { !$0.isPreparation }) else { throw failure() }
        return results
    }

    /// The failure of a connection that ended, with the reason that the server gave last.
    private func ended(_ reason: PostgreSQLError?) -> PostgreSQLError {
        isUsable = false
        return PostgreSQLError(.connectionLost, state: reason?.state ?? "", reason?.message ?? Self.message(of: handle))
    }

    /// The next result, for which this waits; `nil` at the end of an answer.
    private func next(by deadline: Deadline) throws(PostgreSQLError) -> OpaquePointer? {
        while PQisBusy(handle) == 1 {
            let unsent = PQflush(handle)
            guard unsent >= 0 else { break }
            var poll = pollfd(fd: socket, events: Int16(unsent == 1 ? POLLIN | POLLOUT : POLLIN), revents: 0)
            let ready = Glibc.poll(&poll, 1, deadline.milliseconds)
            if ready == 0 {
                isUsable = false
                throw PostgreSQLError(.timedOut, "no answer from PostgreSQL within the time for it")
            }
            guard ready > 0 || errno == EINTR else {
                isUsable = false
                throw PostgreSQLError(.connectionLost, String(cString: strerror(errno)))
            }
            if poll.revents & Int16(POLLIN | POLLHUP | POLLERR) != 0, PQconsumeInput(handle) == 0 { break }
        }
        return PQgetResult(handle)
    }

    private func error(in result: OpaquePointer, of statement: String?) -> PostgreSQLError? {
        switch PQresultStatus(result) {
        case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE, PGRES_NONFATAL_ERROR: break
        default: return nil
        }
        guard let state = freshet_result_sqlstate(result) else { return failure(.connectionLost, statement: statement) }
        var message = freshet_result_message(result).map { String(cString: $0) } ?? ""
        if let detail = freshet_result_detail(result) { message += ": \(String(cString: detail))" }
        return PostgreSQLError(state: String(cString: state), message: message, statement: statement)
    }
}

extension Parameters {
    /// Lends the values as libpq takes them: an address, a length and a format for each.
    fileprivate func withPointers<Result>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> Result
    ) -> Result {
        let lengths = places.map { Int32(clamping: $0?.count ?? 0) }
        let formats = [Int32](repeating: 1, count: places.count)
        return bytes.withUnsafeBytes { bytes in
            // A null address would be NULL, so an empty value has the address of the empty text.
            withUnsafePointer(to: CChar(0)) { empty in
                let values = places.map { place -> UnsafePointer<CChar>? in
                    guard let place else { return nil }
                    return bytes.baseAddress.map { ($0 + place.lowerBound).assumingMemoryBound(to: CChar.self) } ?? empty
                }
                return body(values, lengths, formats)
            }
        }
    }
}
#endif
