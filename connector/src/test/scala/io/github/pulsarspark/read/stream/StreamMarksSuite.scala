package io.github.pulsarspark.read.stream

import java.nio.file.Files
import java.util.concurrent.atomic.AtomicLong

import scala.concurrent.duration._

import org.apache.spark.sql.connector.read.streaming.ReadLimit

import io.github.pulsarspark.common.BlockingParallel
import io.github.pulsarspark.position.PulsarOffset
import io.github.pulsarspark.read.stream.StreamCase.Marker

/** Checkpoints that belong to another cluster, which has the same topics. */
class StreamMarksSuite extends StreamSuite {

  private val Foreign = "PULSAR_CHECKPOINT_OF_ANOTHER_CLUSTER"

  /** The end of a trigger, with its marks, or the condition that it fails with. */
  private def latest(topic: StreamCase, read: PulsarOffset, options: (String, String)*): Either[String, PulsarOffset] =
    try topic.start(options: _*).source.latestOffset(read, ReadLimit.allAvailable) match {
        case own: PulsarOffset => Right(own)
        case other             => fail(other.toString)
      }
    catch { case e: RuntimeException with io.github.pulsarspark.errors.PulsarError => Left(e.condition) }

  private def texts(topic: StreamCase, offset: PulsarOffset) =
    offset.marks.map { case (p, m) =>
      s"${p.last} ${m.position.ledgerId - topic.position("0:0").ledgerId}:${m.position.entryId}"
    }
      .mkString(", ")

  private def stored(entries: Int) = Seq.fill(entries)(0)

  private val rows = Seq(
    ("the same messages", stored(3), 40L, true),
    ("another message at the place", stored(3), 41L, false),
    ("an entry of the broker at the place", Seq(0, Marker, 0), 40L, true)
  )

  for ((what, entries, sequenceId, isRead) <- rows)
    test(s"check of a mark, $what: ${if (isRead) "goes on" else "refused, also with failOnDataLoss=false"}") {
      using { topic =>
        val read = topic.marked("p0 0:1")
        topic.sequenceId = sequenceId
        topic.store("p0", 0 -> entries)
        val found = Seq(latest(topic, read), latest(topic, read, goOn))
        if (isRead) assert(found.forall(_.isRight), found)
        else assertEquals(found.map(_.left.toOption), Seq.fill(2)(Option(Foreign)))
      }
    }

  test("check of a mark in ledgers that the topic does not have") {
    using { topic =>
      val read = topic.marked("p0 3:1")
      topic.store("p0", 0 -> stored(2))
      assertEquals(latest(topic, read, goOn), Left(Foreign), "lower ones alone")
      topic.store("p0", 2 -> stored(2), 4 -> stored(1))
      assertEquals(latest(topic, read, goOn), Left(Foreign), "lower ones and higher ones")
      topic.store("p0", 3 -> stored(1), 4 -> stored(1))
      assertEquals(latest(topic, read, goOn), Left(Foreign), "its own, which is shorter")
      topic.store("p0", 4 -> stored(1))
      assert(latest(topic, read, goOn).isRight, "higher ones alone: the marked message may be deleted")
    }
  }

  test("check before a micro-batch that is planned again") {
    using { topic =>
      topic.store("p0", 0 -> stored(3))
      topic.sequenceId = 41
      val to = topic.marked("p0 0:1")
      assertEquals(condition(topic.start().source.planInputPartitions(topic.offset("p0 0:0"), to)), Foreign)
      val live = topic.start().source
      live.prepareForRealTimeMode()
      assertEquals(condition(live.planInputPartitions(to)), Foreign, "a batch of real-time mode")
    }
  }

  test("marks of offsets: none in those of early versions; new ones at the first end of a run, then kept for a minute") {
    using { topic =>
      topic.store("p0", 0 -> stored(2))
      topic.store("p1", 1 -> stored(1))
      topic.store("p2", 2 -> stored(1))
      val run   = topic.start("startingOffsets" -> "earliest").source
      val first = run.deserializeOffset(run.initialOffset().json)
      assertEquals(texts(topic, first), "1 1:0, 2 2:0", "the newest partitions")
      val end = run.deserializeOffset(run.latestOffset(first, ReadLimit.allAvailable).json)
      assertEquals(texts(topic, end), "1 1:0, 2 2:0")
      val early = topic.offset("p0 0:0, p1 1:0, p2 2:-1")
      assertEquals(latest(topic, early).map(texts(topic, _)), Right("1 1:0, 2 2:0"))
      assertEquals(latest(topic, early.copy(positions = end.positions)).map(texts(topic, _)), Right(""), "nothing new")
    }
  }

  test("marks of a topic without messages: none, and the first ones once there are messages") {
    using { topic =>
      topic.store("p0", 0 -> Nil)
      val run = topic.start()
      assertEquals(run.source.deserializeOffset(run.source.initialOffset().json).marks.size, 0)
      topic.store("p0", 0 -> stored(1))
      val read = topic.offset("p0 0:-1")
      assertEquals(latest(topic, read).map(texts(topic, _)), Right("0 0:0"))
    }
  }

  test("marks of a topic of which few partitions have messages: of these, whatever ledgers are newer") {
    using { topic =>
      topic.store("p0", 0 -> stored(2))
      Seq(1, 2, 3).foreach(n => topic.store(s"p$n", n -> Nil))
      val run = topic.start()
      assertEquals(texts(topic, run.source.deserializeOffset(run.source.initialOffset().json)), "0 0:1")
    }
  }

  test("the start in a checkpoint keeps its marks") {
    using { topic =>
      topic.store("p0", 0 -> stored(2))
      val marked = topic.marked("p0 0:1")
      assertEquals(topic.start().source.initialOffset().json, marked.json)
      assertEquals(Files.readString(topic.checkpoint.resolve("initial-offset.json")), marked.json)
    }
  }

  test("marks of a run: renewed after each check") {
    val clock      = new AtomicLong
    val background = new BlockingParallel("marks", 1)
    using { topic =>
      topic.store("p0", 0 -> stored(2))
      val marks = topic.marks(background, () => clock.get)
      marks.check(topic.offset("p0 0:0"))
      assertEquals(texts(topic, marks.on(topic.offset("p0 0:1"))), "0 0:1")
      topic.store("p0", 0 -> stored(3))
      assertEquals(texts(topic, marks.on(topic.offset("p0 0:2"))), "0 0:1")
      clock.addAndGet(1.minute.toNanos)
      marks.check(topic.marked("p0 0:1"))
      assertEquals(texts(topic, marks.on(topic.offset("p0 0:2"))), "0 0:2")
    }
    background.stop(0): Unit
  }

  test("checks of a run: at its first call and once a minute, then also of marks that it made itself") {
    val clock      = new AtomicLong
    val background = new BlockingParallel("marks", 1)
    using { topic =>
      topic.store("p0", 0 -> stored(2))
      val end   = topic.marked("p0 0:1")
      val marks = topic.marks(background, () => clock.get)
      marks.check(topic.offset("p0 0:0"))
      assertEquals(marks.on(topic.offset("p0 0:1")), end)
      topic.sequenceId = 41
      topic.store("p0", 0 -> stored(2))
      clock.addAndGet(59.seconds.toNanos)
      marks.check(end)
      clock.addAndGet(1.second.toNanos)
      assertEquals(condition(marks.check(end)), Foreign)
    }
    background.stop(0): Unit
  }
}
