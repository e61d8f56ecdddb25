package io.github.pulsarspark.storage

import scala.util.Using

import io.github.pulsarspark.cluster.{LedgerHome, ReadSuite}
import io.github.pulsarspark.errors.DataLossPolicy
import io.github.pulsarspark.position.{OffsetRange, Position, PruningBounds}
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.storage.segment.{HadoopSettings, WholeLedger}

/** Storage of a stream on a scripted cluster: what its driver learns of ledgers, by which requests, and remembers. */
class StreamStorageSuite extends ReadSuite {

  private def asking[A](more: (String, String)*)(test: StreamStorage => A): A =
    Using.resource(PulsarConnection(options(more: _*).client)) { connection =>
      cluster.takeAdminRequests()
      test(new StreamStorage(connection.admin, options(more: _*), HadoopSettings.none, new DataLossPolicy(true)))
    }

  private def range(name: String, from: String, to: String) =
    OffsetRange(full(name), Position.parse(from).get, Position.parse(to).get)

  private def requests: Int = cluster.takeAdminRequests().size

  test("numbers of entries: unknown before the list of ledgers is there, which one request brings") {
    stored("counts", 10L -> 4, 11L -> 3, 12L -> 5)
    asking() { storage =>
      assertEquals(storage.entriesBetween(full("counts"), 10, 12), None)
      storage.list(full("counts"), 10).join()
      assertEquals(storage.entriesBetween(full("counts"), 10, 12), Some((4L, 3L)))
      assertEquals(storage.entriesBetween(full("counts"), 11, 12), Some((3L, 0L)))
      assertEquals(requests, 1)
      storage.keepLists(_ => false)
      assertEquals(storage.entriesBetween(full("counts"), 10, 12), None, "nobody needs it any more")
    }
  }

  test("without an admin service nothing is known of ledgers, and nothing waits for that") {
    val storage = new StreamStorage(None, options(), HadoopSettings.none, new DataLossPolicy(true))
    storage.list("t", 10).join()
    assertEquals(storage.entriesBetween("t", 10, 12), None)
    assertEquals(storage.wholeLedgers(Seq(range("t", "10:-1", "12:0")), 1), Map.empty[String, Seq[WholeLedger]])
    assertEquals(storage.backlogs(Seq(range("t", "10:-1", "12:0")), 1).values.flatten.toSeq, Nil)
  }

  test("closed ledgers, from the one in which a range begins; one request serves the tasks, too") {
    val topic = stored("whole", 20L -> 4, 21L -> 3, 22L -> 5)
    asking() { storage =>
      val all = range("whole", "21:0", "22:4")
      assertEquals(storage.wholeLedgers(Seq(all), Long.MaxValue),
        Map(topic.name -> Seq(WholeLedger(21, 3, topic.ledgers(1).entries.map(_.bytes.length.toLong).sum))))
      val plan = storage.plan(Seq(RequestedRange(all, PruningBounds.Everything, PruningBounds.Everything)),
        StreamTail(1, Map.empty, newestOnly = true), 1)
      assertEquals(plan.tasks.flatten.map(s => s"${s.level.name} ${s.range.endInclusive}"),
        Seq("bookies 21:2", "broker 22:4"))
      assertEquals(requests, 1)
    }
  }

  for ((name, value) <- Seq("readLevel" -> "broker", "readCompacted" -> "true"))
    test(s"with $name=$value, no ledger is a place to end or to read, and none is requested") {
      stored("through", 30L -> 4, 31L -> 3)
      asking(name -> value) { storage =>
        assertEquals(storage.wholeLedgers(Seq(range("through", "30:-1", "31:2")), 1),
          Map.empty[String, Seq[WholeLedger]])
        assertEquals(storage.backlogs(Seq(range("through", "30:-1", "31:2")), 1).values.flatten.toSeq, Nil)
        assertEquals(requests, 0)
      }
    }

  test("a backlog: what is stored before the newest ledger, which tasks follow") {
    stored("behind", 40L -> 4, 41L -> 4, 42L -> 4)
    val all = Seq(range("behind", "40:1", "42:3"))
    asking("readLevel" -> "segment") { storage =>
      val slices = storage.backlogs(all, entries = 1)(full("behind"))
      assertEquals(slices.map(_.range.endInclusive.toString), Seq("40:3", "41:3"))
      assertEquals(slices.flatMap(_.segment).map(s => (s.ledgerId, s.first)), Seq((40L, 2L), (41L, 0L)))
    }
    asking()(storage =>
      assertEquals(storage.backlogs(all, entries = 1)(full("behind")), Nil, "so little is in the cache of a broker")
    )
  }

  test("ledgers that tasks did not find are requested again, those of a deleted partition are forgotten") {
    stored("moving", 50L -> 4, 51L -> 3)
    asking() { storage =>
      val all    = Seq(range("moving", "50:-1", "51:2"))
      def listed = { storage.wholeLedgers(all, Long.MaxValue); requests }
      assertEquals((listed, listed), (1, 0))
      storage.moved(Seq(full("moving")))
      assertEquals((listed, listed), (1, 0))
      storage.retain(_ != full("moving"))
      assertEquals((listed, listed), (1, 0))
    }
  }

  test("the driver counts entries wherever they are, also where tasks must not leave them to the broker") {
    val topic =
      store("counted", id => if (id == 61) LedgerHome.Unknown else LedgerHome.Bookie, 60L -> 4, 61L -> 3, 62L -> 2)
    asking("readLevel" -> "segment") { storage =>
      assertEquals(counted(storage, range("counted", "60:0", "62:1")), topic.entries.map(_.at).drop(1).toList)
    }
  }

  test("the driver counts the entries of a ledger that its bookies have lost, which the broker delivers") {
    val topic = stored("lost", 70L -> 4, 71L -> 3, 72L -> 2)
    asking("readLevel" -> "segment") { storage =>
      cluster.lose(70)
      assertEquals(counted(storage, range("lost", "70:0", "72:1")), topic.entries.map(_.at).drop(1).toList)
    }
  }

  private def counted(storage: StreamStorage, range: OffsetRange): List[Position] =
    Using.resource(storage.entries(range, options("readLevel" -> "segment"))) { entries =>
      Iterator.continually(entries.next()).takeWhile(identity)
        .map(_ => Position(entries.ledgerId, entries.entryId)).toList
    }
}
