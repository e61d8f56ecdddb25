package io.github.pulsarspark.write.exactlyonce

import scala.concurrent.duration._
import scala.util.{Random, Try}

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.pulsar.transactions.TransactionId

/** A stream whose drivers fail anywhere, in random histories. */
class SinkHistoriesSuite extends UnitSuite {

  private val nothing = Set.empty[TransactionId]

  /** A stream of some epochs whose driver fails at any call, with drivers that do not know that they are replaced. */
  private def history(seed: Long): (FakeSink, Map[Long, Seq[SinkTransaction]]) = {
    val random  = new Random(seed)
    val sink    = new FakeSink
    val epochs  = 4L
    var sent    = Map.empty[Long, Seq[SinkTransaction]].withDefaultValue(Nil)
    var zombies = Seq.empty[() => Unit]
    var depth   = 0

    def elsewhere(): Unit = if (depth == 0 && zombies.nonEmpty && random.nextInt(5) == 0) {
      depth += 1
      val _ = Try(zombies(random.nextInt(zombies.size))())
      depth -= 1
    }

    /** Returns the first epoch that Spark runs again. */
    def life(from: Long, mean: Int): Long = {
      val coordinator = new SinkCoordinator(FakeSink.settings(),
        new FakeCluster(sink, random, mean, () => elsewhere()), 2.millis)
      var next = from
      var late = Seq.empty[() => Unit]
      try {
        coordinator.start()
        while (next < epochs) {
          val task     = coordinator.task
          val attempts = (0L to (seed + next) % 3).map(_.toInt).map {
            p =>                                                      // the rows of an epoch are the same each time
              if (random.nextInt(4) == 0) sink.attempt(task, next, p) // one that is tried again
              sink.attempt(task, next, p)
          }
          sent += next -> (sent(next) ++ attempts.flatMap(_.transaction))
          val epoch = next
          late ++= Seq(
            () => coordinator.commit(epoch, attempts),
            () => coordinator.abort(epoch),
            () => coordinator.close()
          ).filter(_ => random.nextInt(8) == 0)
          if (random.nextInt(6) == 0) { coordinator.abort(next); return next } // the job failed
          coordinator.commit(next, attempts)
          if (random.nextInt(6) == 0) return next // killed before Spark's own log has it
          next += 1
        }
        coordinator.close()
        next
      } catch {
        case e: Exception =>
          if (Conditions.SinkEpochTorn.is(e)) throw e
          if (random.nextBoolean()) Try(coordinator.abort(next))
          if (random.nextBoolean()) Try(coordinator.close())
          next
      } finally zombies ++= late
    }

    var next = 0L
    (1 to 12).foreach(_ => next = life(next, mean = 12))
    zombies = Nil
    while (next < epochs) next = life(next, mean = 0)
    life(next, mean = 0) // one that starts and ends without a fault
    (sink, sent)
  }

  test("whatever fails, and whoever does not notice: each epoch is committed once, as one driver recorded it") {
    (1L to 1000L).foreach { seed =>
      val (sink, sent) = history(seed)
      val records      = sink.log.toSeq.flatMap(r => SinkRecords.parse(r._2)).map(_._2)
      val prepared     = records.collect { case p: SinkRecord.Prepared => p.epoch -> p.transactions.map(_.id).toSet }
      val dropped      = records.collect { case SinkRecord.Dropped(epoch) => epoch }
      (0L until 4L).foreach { epoch =>
        val committed = sent(epoch).map(_.id).toSet & sink.committed
        val decided   = prepared.filter(_._1 == epoch).map(_._2).lastOption.getOrElse(nothing)
        assertEquals(committed, decided, s"seed $seed epoch $epoch dropped $dropped")
        assert(committed.nonEmpty, s"seed $seed epoch $epoch")
      }
      assertEquals(sink.committed -- sent.values.flatten.map(_.id), nothing, s"seed $seed: attempts that lost")
      assertEquals(sink.open, nothing, s"seed $seed: left open")
    }
  }
}
