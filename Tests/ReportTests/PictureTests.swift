import Foundation
import FreshetSimulator
import Testing

/// The visible picture: pixels at the places of the elements.
@Suite("A report's picture", .serialized, .browserThreads, .timeLimit(.minutes(15)))
struct PictureTests {
    private struct Place: Codable {
        let name: String
        let x, y, width, height: Double
        let colour: [Int]
    }

    /// Where things lie on the opened page, each with the colour that it should have.
    private static let look = #"""
        const colours = COLOURS;
        const places = [];
        const add = (name, element, colour) => {
          if (!element) return;
          const box = element.getBoundingClientRect();
          places.push({ name, x: box.x, y: box.y, width: box.width, height: box.height, colour });
        };
        await settle();
        for (const stage of ["pending", "acknowledged", "confirmed", "rejected", "rolledBack", "cleared"]) {
          add(stage, document.querySelector("#layer-writes .write." + stage), colours[stage]);
        }
        add("violation", byId("violation"), colours.violation);
        add("flag", document.querySelector("#layer-violation .violation-flag"), colours.violation);
        add("lost", document.querySelector("#layer-messages .lost"), colours.lost);
        add("fault", document.querySelector("#layer-faults rect.instant"), colours.fault);
        add("differs", document.querySelector("td.differs"), colours.differs);
        add("page", byId("summary"), colours.page);
        return places;
        """#

    private static let stages = [
        "pending": [0xE6, 0x9F, 0x00], "acknowledged": [0x56, 0xB4, 0xE9], "confirmed": [0x00, 0x9E, 0x73], "rejected": [0xD5, 0x5E, 0x00],
        "rolledBack": [0xCC, 0x79, 0xA7], "cleared": [0x9A, 0xA0, 0xA6],
    ]
    private static let light = [
        "violation": [0xC8, 0x10, 0x2E], "lost": [0xB8, 0x43, 0x00], "fault": [0x6A, 0x4B, 0xC4], "differs": [0xFF, 0xF1, 0xCC],
        "page": [0xF6, 0xF7, 0xF9],
    ]
    private static let dark = [
        "violation": [0xFF, 0x5C, 0x75], "lost": [0xFF, 0x90, 0x52], "fault": [0xA5, 0x8B, 0xF5], "differs": [0x3D, 0x32, 0x10],
        "page": [0x11, 0x15, 0x1B],
    ]

    /// How much of each place must have its colour: a bar is mostly its colour, a line within its box is little of it.
    private static let least = [
        "pending": 0.3, "acknowledged": 0.6, "confirmed": 0.4, "rejected": 0.3, "rolledBack": 0.4, "cleared": 0.4, "violation": 0.15,
        "flag": 0.5, "lost": 0.02, "fault": 0.3, "differs": 0.5, "page": 0.6,
    ]

    @Test("has each stage, the violation, faults and lost messages in their colours", arguments: [false, true])
    func colours(isDark: Bool) async throws {
        // Given
        var browser = try Browser()
        browser.isDark = isDark
        let colours = Self.stages.merging(isDark ? Self.dark : Self.light) { $1 }
        let text = String(decoding: try JSONEncoder().encode(colours), as: UTF8.self)
        let page = SampleTimeline.rich.page()
        // When: the page, and one of a run without anything, in whose picture the same places are looked at.
        let places: [Place] = try await browser.findings(in: page, Self.look.replacing("COLOURS", with: text))
        let blank = Timeline(title: "blank").page()
        let shares = try await Self.shares(of: places, in: [browser.picture(of: page), browser.picture(of: blank)])
        // Then
        #expect(Set(places.map(\.name)) == Set(Self.least.keys))
        for (name, least) in Self.least {
            let share = try #require(shares[0][name])
            #expect(share >= least, "\(name): \(share)")
            let control = try #require(shares[1][name])
            #expect(name == "page" || control < 0.01, "\(name) on a blank page: \(control)")
        }
    }

    /// The share of each place's pixels that are near its colour. The browser itself reads the picture: it needs no other program.
    private static func shares(of places: [Place], in pictures: [[UInt8]]) async throws -> [[String: Double]] {
        let script = #"""
            const shown = async picture => {
              const image = new Image();
              await new Promise((done, fail) => {
                image.onload = done;
                image.onerror = fail;
                image.src = "data:image/png;base64," + picture;
              });
              const canvas = document.createElement("canvas");
              canvas.width = image.width;
              canvas.height = image.height;
              const context = canvas.getContext("2d", { willReadFrequently: true });
              context.drawImage(image, 0, 0);
              return context;
            };
            const shareOf = (context, place) => {
              const width = Math.max(1, Math.round(place.width));
              const height = Math.max(1, Math.round(place.height));
              const pixels = context.getImageData(Math.round(place.x), Math.round(place.y), width, height).data;
              let near = 0;
              for (let at = 0; at < pixels.length; at += 4) {
                const distance = Math.hypot(...place.colour.map((value, index) => value - pixels[at + index]));
                if (distance < 24) near += 1;
              }
              return near / (width * height);
            };
            const shares = [];
            for (const picture of pictures) {
              const context = await shown(picture);
              shares.push(Object.fromEntries(places.map(place => [place.name, shareOf(context, place)])));
            }
            return shares;
            """#
        let list = String(decoding: try JSONEncoder().encode(places), as: UTF8.self)
        let encoded = "[\(pictures.map { "\"\(Data($0).base64EncodedString())\"" }.joined(separator: ","))]"
        let blank = "<!DOCTYPE html><html><head><meta charset=\"utf-8\"></head><body>\n</body>\n</html>\n"
        return try await Browser().findings(in: Array(blank.utf8), "const [pictures, places] = [\(encoded), \(list)];\n" + script)
    }
}
