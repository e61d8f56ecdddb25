package io.github.pulsarspark.read.stream.lag

import scala.util.Using

import io.github.pulsarspark.cluster.ReadSuite
import io.github.pulsarspark.errors.DataLossPolicy
import io.github.pulsarspark.position.{PartitionBounds, Position, PulsarOffset}
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.storage.KilledTasks.eventually
import io.github.pulsarspark.storage.StreamStorage
import io.github.pulsarspark.storage.segment.HadoopSettings

/** Backlogs by [[StreamLag]]: what it remembers of a trigger, and requests for it from a scripted admin service. */
class StreamLagSuite extends ReadSuite {

  private def asking[A](test: StreamStorage => A): A =
    Using.resource(PulsarConnection(options().client)) { connection =>
      cluster.takeAdminRequests()
      test(new StreamStorage(connection.admin, options(), HadoopSettings.none, new DataLossPolicy(true)))
    }

  private def at(places: (String, String)*) =
    PulsarOffset.of(places.map { case (name, place) => full(name) -> Position.parse(place).get }.toMap)

  private def bounds(ends: (String, String, String)*) = ends.map { case (name, first, last) =>
    full(name) -> PartitionBounds(Position.parse(first).get, Position.parse(last).get)
  }.toMap

  test("a backlog is that of the last trigger, and None before the first") {
    val lag = new StreamLag(isCompacted = false, None)
    assertEquals(lag.after(at("p" -> "3:4")), None)
    lag.update(at("p" -> "3:4"), bounds(("p", "3:-1", "3:6")))
    assertEquals(lag.after(at("p" -> "3:4")).flatMap(_.entries), Some(2L))
    assertEquals(lag.after(at("p" -> "3:5")).flatMap(_.entries), Some(1L))
    lag.update(at("p" -> "3:5"), bounds(("p", "3:-1", "3:9")))
    assertEquals(lag.after(at("p" -> "3:5")).flatMap(_.entries), Some(4L))
  }

  test("a backlog over several ledgers is counted once their list is there, which one request brings") {
    stored("far", 10L -> 4, 11L -> 3, 12L -> 5)
    asking { storage =>
      val lag = new StreamLag(isCompacted = false, Some(storage))
      lag.update(at("far" -> "10:1"), bounds(("far", "10:-1", "12:4")))
      eventually("the list is not there")(lag.after(at("far" -> "10:1")).flatMap(_.entries).contains(10L))
      lag.update(at("far" -> "10:2"), bounds(("far", "10:-1", "12:4")))
      assertEquals(lag.after(at("far" -> "10:2")).flatMap(_.entries), Some(9L))
      assertEquals(cluster.takeAdminRequests().size, 1)
    }
  }

  test("a list is forgotten when its partition has no backlog any more") {
    Seq("behind", "done").foreach(stored(_, 20L -> 4, 21L -> 3))
    asking { storage =>
      def known(name: String) = storage.entriesBetween(full(name), 20, 21)
      Seq("behind", "done").foreach(name => storage.list(full(name), 20).join())
      assertEquals(Seq("behind", "done").map(known), Seq(Some((4L, 0L)), Some((4L, 0L))))
      new StreamLag(isCompacted = false, Some(storage)).update(at("behind" -> "20:1", "done" -> "21:2"),
        bounds(("behind", "20:-1", "21:2"), ("done", "20:-1", "21:2")))
      assertEquals(Seq("behind", "done").map(known), Seq(Some((4L, 0L)), None))
    }
  }

  test("of the compacted view the number of entries is not known, and no storage is asked for it") {
    val lag = new StreamLag(isCompacted = true, fail("it asks the storage"))
    lag.update(at("p" -> "10:1"), bounds(("p", "10:-1", "10:4")))
    assertEquals(lag.after(at("p" -> "10:1")).map(b => (b.behind.size, b.entries)), Some((1, None)))
    assertEquals(lag.after(at("p" -> "10:4")).flatMap(_.entries), Some(0L))
  }
}
