package io.github.pulsarspark.checkpoint

import scala.concurrent.duration._
import scala.util.{Random, Using}

import io.github.pulsarspark.cluster.WriteSuite
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.journal.JournalTopic

/** Contents of [[ContentStore]] in a topic of a scripted broker. */
class ContentStoreSuite extends WriteSuite {

  private lazy val connection = PulsarConnection(client())

  override def afterAll(): Unit =
    try connection.close()
    finally super.afterAll()

  /** Gives a test the contents of a topic, and the number of times that they were prepared. */
  private def using[A](name: String)(test: (ContentStore, () => Int) => A): A = {
    store(name)
    var prepared = 0
    Using.resource(new ContentStore(connection.journal(topic(name)), 3.minutes, () => prepared += 1))(
      test(_, () => prepared)
    )
  }

  private def bytes(size: Int) = new Random(size).nextBytes(size)

  test("a content is in parts of one MiB, one after the other, and is prepared for once") {
    using("parts") { (contents, prepared) =>
      assertEquals((contents.isUsed, prepared()), (false, 0))
      val sizes  = Seq(1 -> 1, (1 << 20) -> 1, (1 << 20) + 1 -> 2, (3 << 20) -> 3)
      val stored = sizes.map { case (size, _) => contents.write(bytes(size)) }
      assertEquals((contents.isUsed, prepared()), (true, 1))
      assertEquals(stored.map(one => one.size.toInt -> one.places.size), sizes)
      assertEquals(stored.flatMap(_.places), cluster.topic(topic("parts")).entries.map(_.at))
      stored.foreach(one => assertEquals(contents.read(one).map(_.toSeq), Some(bytes(one.size.toInt).toSeq)))
    }
  }

  test("what is not there as it was written is no content") {
    using("changed") { (contents, _) =>
      val Seq(one, other) = Seq(10, 11).map(size => contents.write(bytes(size))): @unchecked
      assertEquals(contents.read(one.copy(places = other.places)).map(_.toSeq), None)
      assertEquals(contents.read(one.copy(checksum = one.checksum + 1)).map(_.toSeq), None)
      assertEquals(contents.read(one.copy(places = Seq(Position(one.places.head.ledgerId, 9)))).map(_.toSeq), None)
    }
  }

  test("a content that the broker refuses is an error by name, and the next one is written by another producer") {
    using("refused") { (contents, prepared) =>
      contents.write(bytes(1))
      cluster.writes.refused = Set(topic("refused"))
      try assertEquals(condition(contents.write(bytes(2))), "PULSAR_CHECKPOINT_STORE_TOPIC")
      finally cluster.writes.refused = Set.empty
      assertEquals(contents.read(contents.write(bytes(3))).map(_.toSeq), Some(bytes(3).toSeq))
      assertEquals(requests().count(_.startsWith("producer refused")), 2)
      assertEquals(prepared(), 1)
    }
  }

  test("brokers may delete what is up to a place, and nothing where there is none") {
    using("forgotten") { (contents, _) =>
      def root = cluster.writes.subscriptions.get((topic("forgotten"), JournalTopic.Subscription))
      val one  = contents.write(bytes(1))
      requests()
      contents.forget(Position.BeforeAll)
      assertEquals(requests(), Nil)
      assertEquals(root, Some(one.places.head.preceding))
      contents.forget(one.places.head)
      assertEquals(root, Some(one.places.head))
    }
  }
}
