import Testing

@testable import FreshetSimulator

@Suite struct CorpusTests {
    private let scenario = Scenario(
        seed: 1, devices: [Scenario.Device("A")],
        incidents: (0..<10).map { _ in Scenario.Incident(after: 1, .clear(device: 0)) })

    @Test func aTripleIsCountedOnce() {
        // Given a corpus with two triples
        var corpus = Corpus()
        let new = corpus.add(
            scenario, [covered(1, incidents: 2, steps: 20), covered(2, incidents: 4, steps: 40)], longest: 100)
        #expect(new == 2)
        // When another run covers one of them and a third
        let more = corpus.add(
            scenario, [covered(2, incidents: 4, steps: 40), covered(3, incidents: 5, steps: 50)], longest: 100)
        // Then only the third is new
        #expect(more == 1)
        #expect(corpus.triples == 3)
        #expect(corpus.count == 2)
    }

    @Test func whatCoversNothingNewIsNotKept() {
        var corpus = Corpus()
        corpus.add(scenario, [covered(1, incidents: 2, steps: 20)], longest: 100)
        corpus.add(scenario, [covered(1, incidents: 2, steps: 20)], longest: 100)
        #expect(corpus.count == 1)
    }

    @Test func anEntryEndsWhereItIsRare() throws {
        var corpus = Corpus()
        corpus.add(scenario, [covered(1, incidents: 2, steps: 20), covered(2, incidents: 4, steps: 40)], longest: 100)
        #expect(corpus.scenarios.values.map(\.incidents.count) == [4])
    }

    @Test func aMuchShorterWayReplacesALongerOne() {
        // Given an entry that reaches a triple in 90 steps
        var corpus = Corpus()
        corpus.add(scenario, [covered(1, incidents: 9, steps: 90)], longest: 100)
        // When another one reaches it in 20
        corpus.add(scenario, [covered(1, incidents: 2, steps: 20)], longest: 100)
        // Then the first has left
        #expect(corpus.scenarios.values.map(\.incidents.count) == [2])
        #expect(corpus.triples == 1)
    }

    @Test func whatIsTooLongIsCountedAndNotKept() {
        var corpus = Corpus()
        var random = RandomSource(seed: 1)
        #expect(corpus.add(scenario, [covered(1, incidents: 9, steps: 101)], longest: 100) == 1)
        #expect(corpus.count == 0)
        #expect(corpus.place(&random) == nil)
    }

    @Test func aRareTripleIsChosenMoreOften() throws {
        // Given a triple that a hundred runs cover, and one that one run covers
        var corpus = Corpus()
        for _ in 0..<100 { corpus.add(scenario, [covered(1, incidents: 1, steps: 20)], longest: 100) }
        corpus.add(scenario, [covered(2, incidents: 2, steps: 20)], longest: 100)
        // When places are chosen
        var random = RandomSource(seed: 1)
        let places = (0..<100).compactMap { _ in corpus.place(&random)?.reach.incidents }
        // Then most are those of the rare one
        #expect(places.count { $0 == 2 } > 90)
    }

    @Test func aFamilyWithFewTriplesIsChosenAsOftenAsOneWithMany() {
        // Given a hundred triples of one family and one of another, each covered once
        var corpus = Corpus()
        for state: UInt64 in 0..<100 { corpus.add(scenario, [covered(state, incidents: 1, steps: 20)], longest: 100) }
        corpus.add(scenario, [covered(0, .lateness, incidents: 2, steps: 20)], longest: 100)
        // When places are chosen
        var random = RandomSource(seed: 1)
        let places = (0..<200).compactMap { _ in corpus.place(&random)?.reach.incidents }
        // Then about half are of the second family
        #expect((70...130).contains(places.count { $0 == 2 }))
    }

    @Test func trimmingLeavesTheRareTriples() {
        // Given many common triples and few rare ones, each with an entry
        var corpus = Corpus()
        for number: UInt64 in 0..<40 {
            for _ in 0..<(number < 30 ? 5 : 1) {
                corpus.add(scenario, [covered(number, incidents: 3, steps: 20)], longest: 100)
            }
        }
        // When all but ten entries must go
        var random = RandomSource(seed: 1)
        corpus.trim(to: 10, &random)
        // Then ten are left, most of them of rare triples, and no triple is forgotten
        #expect(corpus.count == 10)
        #expect(corpus.triples == 40)
        #expect(corpus.scenarios.keys.count { $0 > 30 } >= 7)
    }

    private func covered(_ state: UInt64, _ family: Triple.Family = .key, incidents: Int, steps: Int) -> TripleVisit {
        TripleVisit(
            triple: Triple(family, state: state, event: 0, fault: 0),
            reach: FirstVisit(incidents: incidents, steps: steps, elapsed: 0, isHealed: false))
    }
}
