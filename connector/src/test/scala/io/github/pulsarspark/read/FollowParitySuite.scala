package io.github.pulsarspark.read

import scala.util.Random

import org.scalacheck.Gen
import org.scalacheck.Prop.forAllNoShrink

import io.github.pulsarspark.cluster.RandomTopic

/** Real-time tasks find what Pulsar's own client finds, wherever what is stored is read before the tail, and wherever
  * batches end.
  */
class FollowParitySuite extends LevelSuite(8) {

  property("any topic from anywhere on, in batches that end anywhere") {
    forAllNoShrink(Gen.long)(seed => compare(new Random(seed), damaged = false))
  }

  property("a topic with a damaged entry, the same rows and the same error") {
    forAllNoShrink(Gen.long)(seed => compare(new Random(seed), damaged = true))
  }

  private def compare(dice: Random, damaged: Boolean): Unit = {
    val random = topic(dice, damaged)
    for (place <- ReadPlace.all) {
      val followed = follow(random, place, LevelQuery(random.range(dice)._1, random.topic.lastMessage), dice)
      assertEquals(followed.counted, followed.found.rows.size.toLong, s"${place.name}\n$random")
    }
  }

  private def follow(random: RandomTopic, place: ReadPlace, query: LevelQuery, dice: Random): Followed = {
    val expected = query.expected(random.topic)
    val stored   = levels.store(random.topic, place, dice)
    val few      = Map("readAheadBytes" -> Seq("1", "2k", "16m")(dice.nextInt(3)))
    try {
      val wanted   = if (expected.error.isEmpty) expected.rows.size else Int.MaxValue
      val followed = levels.follow(stored, place, query.copy(options = few), wanted, dice)
      val found    = followed.found
      assertEquals(found.error, expected.error, s"${place.name}: ${query.from} $few\n$random")
      assertEquals(found.rows.map(_._1), expected.rows.map(_._1), s"${place.name}: ${query.from} $few\n$random")
      assertEquals(found.rows, expected.rows, s"${place.name}: ${query.from} $few\n$random")
      followed
    } finally cluster.remove(stored)
  }

  for (place <- Seq(ReadPlace.bookies, ReadPlace.client, ReadPlace.blocks, ReadPlace.mapFile)) test(
    s"control, ${place.name}: rows are counted where they are stored, and those of the broker are its own"
  ) {
    val (whole, query) = first(t => t.ledgers.size > 2 && t.entries.exists(isPlain))
    val followed       = follow(RandomTopic(whole, Vector.empty), place, query, new Random(1))
    assert(followed.stored > 0, followed)
  }
}
