internal import CFreshetCurl
internal import HTTPTypes

/// One request in progress, from ``CurlLoop/begin(_:)`` to its completion; accessed only by the curl thread.
///
/// libcurl's callbacks get it as an unretained pointer. That pointer is valid whenever they run: the loop's table of
/// transfers holds the object from before the handle is added to the multi handle until after it is removed from it.
/// libcurl calls back only from within `curl_multi_` functions, and only for handles that are in the multi handle.
final class Transfer {
    typealias Completion = @Sendable (Result<HTTPReply, TransportError>) -> Void

    /// Far above the needs of any server, so that a hostile one cannot fill the memory with fields.
    static let maximumHeaderSize = 256 << 10
    /// The most fields of a header. `HTTPFields` traps at 65,535. A cache that adds the fields of later headers has a separate limit.
    static let maximumFieldCount = 4_096

    let id: UInt64
    let request: HTTPRequestDescription
    let completion: Completion
    let easy: EasyHandle
    /// When its time is up, in milliseconds of ``CurlLoop/now``.
    let deadline: Int64
    /// The request's fields in libcurl's form. libcurl does not copy the list, so it lives as long as the transfer.
    var fieldList: UnsafeMutablePointer<curl_slist>?

    /// The proxy of the request.
    var proxy: ProxyRule.Proxy?

    private var fields: HTTPFields = [:]
    private var headerSize = 0
    private var expectedLine = HeaderLine.status
    /// The latest field, which folded lines may continue (RFC 9112 §5.2).
    private var openField: (name: HTTPField.Name, value: [UInt8])?
    private var body: [UInt8] = []
    /// Why a callback refused to continue, which libcurl itself can only report as a write error.
    private var refusal: TransportError?

    /// The kind of the next line from libcurl, which passes trailers to the same callback after the content.
    private enum HeaderLine { case status, field, trailer }

    init(id: UInt64, request: HTTPRequestDescription, easy: EasyHandle, deadline: Int64, completion: @escaping Completion) {
        self.id = id
        self.deadline = deadline
        self.request = request
        self.easy = easy
        self.completion = completion
    }

    deinit { curl_slist_free_all(fieldList) }

    /// Returns the outcome, once libcurl has finished the transfer.
    func outcome(_ code: CURLcode) -> Result<HTTPReply, TransportError> {
        if let refusal { return .failure(refusal) }
        guard code == CURLE_OK else {
            return .failure(
                TransportError(code, text: easy.errorText(for: code), limit: request.maximumResponseSize, proxy: proxy?.description))
        }
        let status = easy.responseCode
        // libcurl accepts any number after `HTTP/2`, also over a connection of HTTP/1.1.
        guard (100...999).contains(status) else { return .failure(.malformedResponse("its status is \(status)")) }
        return .success(
            HTTPReply(status: status, fields: fields, body: body, proxy: proxy?.description, statesEnd: statesEnd(status)))
    }

    /// See ``HTTPReply/statesEnd``. HTTP/2 and later versions state the end of each response.
    private func statesEnd(_ status: Int) -> Bool {
        if request.method == .head || status == 204 || status == 304 || easy.isHTTP2OrLater { return true }
        if let coding = fields[.transferEncoding] { return coding.lowercased().hasSuffix("chunked") }
        // libcurl reads until the end of the connection if the length is too large for an integer.
        return fields[.contentLength].flatMap { Int($0) } != nil
    }

    /// - Returns: whether to continue.
    func receive(body bytes: UnsafeRawBufferPointer) -> Bool {
        guard body.count + bytes.count <= request.maximumResponseSize else {
            refusal = .tooLarge(limit: request.maximumResponseSize)
            return false
        }
        body.append(contentsOf: bytes)
        return true
    }

    /// Handles one line of the header, including its line end. After a `100 Continue` comes another status line.
    /// - Returns: whether to continue.
    func receive(header line: UnsafeRawBufferPointer) -> Bool {
        headerSize += line.count
        guard headerSize <= Self.maximumHeaderSize else {
            refusal = .malformedResponse("its header has more than \(Self.maximumHeaderSize) bytes")
            return false
        }
        switch expectedLine {
        case .status:
            fields = [:]
            expectedLine = .field
            return true
        case .field: break
        // Trailers may not state what the header may (RFC 9110 §6.5.1).
        case .trailer: return true
        }
        if line.allSatisfy({ $0 == 0x0D || $0 == 0x0A }) { return endHeader() }
        if let first = line.first, first.isBlank {
            openField?.value.append(0x20)
            openField?.value.append(contentsOf: Self.trimmed(line))
            return true
        }
        return receive(field: line)
    }

    /// - Returns: whether to continue.
    private func receive(field line: UnsafeRawBufferPointer) -> Bool {
        closeField()
        // White space before the colon does not belong to the name (RFC 9112 §5.1).
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
            let name = HTTPField.Name(String(decoding: Self.trimmed(line[..<colon]), as: UTF8.self))
        else { return true }
        guard fields.count < Self.maximumFieldCount else {
            refusal = .malformedResponse("its header has more than \(Self.maximumFieldCount) fields")
            return false
        }
        // An empty value has a meaning too: an empty `Expires` is an invalid date. Bytes are kept unchanged (RFC 9110 §5.5).
        openField = (name, Array(Self.trimmed(line[(colon + 1)...])))
        return true
    }

    /// - Returns: whether to continue.
    private func endHeader() -> Bool {
        closeField()
        let status = easy.responseCode
        // After an interim response comes another status line.
        expectedLine = (100..<200).contains(status) ? .status : .trailer
        // The answer to a `HEAD`, and a `304`, state the length of content that does not follow.
        guard request.method != .head, status != 304, let length = fields[.contentLength].flatMap({ Int($0) }),
            length > request.maximumResponseSize
        else { return true }
        refusal = .tooLarge(limit: request.maximumResponseSize)
        return false
    }

    private func closeField() {
        if let openField { fields.append(HTTPField(name: openField.name, value: openField.value)) }
        openField = nil
    }

    /// The bytes without blanks at both ends and without the line end.
    private static func trimmed<Bytes: BidirectionalCollection<UInt8>>(_ bytes: Bytes) -> Bytes.SubSequence {
        let rest = bytes.drop(while: \.isBlank)
        let end = rest.lastIndex { $0 > 0x20 }.map { rest.index(after: $0) } ?? rest.startIndex
        return rest[..<end]
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == 0x20 || self == 0x09 }
}
