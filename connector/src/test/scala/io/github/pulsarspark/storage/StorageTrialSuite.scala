package io.github.pulsarspark.storage

import scala.util.Using

import io.github.pulsarspark.cluster.{LedgerHome, ReadSuite}
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.storage.segment.HadoopSettings

/** Reads for a diagnosis, on a scripted cluster: no broker helps, and each failure has its name. */
class StorageTrialSuite extends ReadSuite {

  private def trying[A](names: String*)(test: StorageTrial => A): A =
    Using.resource(PulsarConnection(options().client)) { connection =>
      Using.resource(new StorageTrial(connection.admin.get, options(), HadoopSettings.none, names.map(full)))(test)
    }

  private def failed(body: => Any): (String, String) = {
    val e = intercept[RuntimeException with PulsarError](body)
    (e.condition, e.parameters("topic"))
  }

  test("bookies of all ledgers, each once, with no problem") {
    stored("a", 10L -> 2, 11L -> 1)
    stored("b", 12L -> 2, 13L -> 1)
    val found = trying("a", "b")(_.bookies())
    assertEquals((found.size, found.flatMap(_._2)), (1, Nil))
  }

  test("the first entry of the newest ledger that has one, of the first partition by name") {
    stored("c", 20L -> 2, 21L -> 3, 22L -> 0)
    stored("d", 23L -> 2, 24L -> 1)
    assertEquals(trying("d", "c")(_.entryOnBookies()), Some(Position(21, 0)))
    assertEquals(trying("c")(_.offloadedEntry()), None)
  }

  test("a topic without an entry has none to try") {
    stored("empty", 30L -> 0)
    assertEquals(trying("empty")(t => (t.entryOnBookies(), t.offloadedEntry())), (None, None))
  }

  test("a ledger that its bookie does not have: an error, though the broker could read it") {
    stored("lost", 40L -> 2, 41L -> 0)
    cluster.lose(40)
    assertEquals(failed(trying("lost")(_.entryOnBookies())), ("PULSAR_SEGMENT_READ_FAILED", full("lost")))
  }

  test("a ledger whose place is not known: an error with the reason") {
    store("unknown", _ => LedgerHome.Unknown, 50L -> 2, 51L -> 0)
    assertEquals(failed(trying("unknown")(_.entryOnBookies())), ("PULSAR_SEGMENT_UNAVAILABLE", full("unknown")))
  }
}
