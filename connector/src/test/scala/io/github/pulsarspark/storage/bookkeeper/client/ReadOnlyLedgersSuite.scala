package io.github.pulsarspark.storage.bookkeeper.client

import java.util.concurrent.{CompletableFuture, ExecutionException}

import io.github.pulsarspark.UnitSuite

/** A metadata store that BookKeeper's client can read and nothing else, by [[ReadOnlyLedgersFactory]]. */
class ReadOnlyLedgersSuite extends UnitSuite {

  private val ledgers = new ReadOnlyLedgers(new InMemoryLedgerMetadata)
  private val factory = new ReadOnlyLedgersFactory(() => ledgers)

  test("it has the ledgers that tasks announce") {
    assert(factory.newLedgerManager() eq ledgers)
    assert(factory.initialize(null, null, 1) eq factory)
  }

  private val refused: Seq[(String, () => Any)] = Seq(
    "the id of a new ledger" -> (() => factory.newLedgerIdGenerator().generateLedgerId((_, _) => ())),
    "replicas to repair"     -> (() => factory.newLedgerUnderreplicationManager()),
    "an auditor"             -> (() => factory.newLedgerAuditorManager()),
    "an empty store"         -> (() => factory.format(null, null)),
    "another cluster"        -> (() => factory.validateAndNukeExistingCluster(null, null)),
    "a list of ledgers"      -> (() => ledgers.getLedgerRanges(1))
  )

  for ((what, ask) <- refused) test(s"$what: refused") {
    intercept[UnsupportedOperationException](ask())
  }

  test("a change of a ledger is refused by its response") {
    val answers = Seq[CompletableFuture[_]](ledgers.createLedgerMetadata(1, null),
      ledgers.removeLedgerMetadata(1, null), ledgers.writeLedgerMetadata(1, null, null))
    for (answer <- answers)
      assert(intercept[ExecutionException](answer.get()).getCause.isInstanceOf[UnsupportedOperationException])
  }
}
