package io.github.pulsarspark.read

import scala.util.Random

import org.scalacheck.Gen
import org.scalacheck.Prop.forAllNoShrink

import io.github.pulsarspark.cluster.TopicEntry
import io.github.pulsarspark.position.PruningBounds

/** Every read level finds what Pulsar's own client finds, from the plan to the rows: the broker, bookies with and
  * without BookKeeper's client, both formats of offloaded ledgers, and all of them in one topic.
  */
class LevelParitySuite extends LevelSuite(8) {

  property("any range of any topic, in one read or in micro-batches, whatever of it is selected") {
    forAllNoShrink(Gen.long)(seed => compare(new Random(seed), damaged = false))
  }

  property("any range of a topic with a damaged entry, the same rows or the same error at every level") {
    forAllNoShrink(Gen.long)(seed => compare(new Random(seed), damaged = true))
  }

  private def compare(dice: Random, damaged: Boolean): Unit = {
    val random  = topic(dice, damaged)
    val queries = Seq.fill(2)(LevelQuery.random(dice, random)).flatten
    for {
      place            <- ReadPlace.all
      (query, problem) <- differences(random.topic, random.topic, place, queries, dice)
    } fail(s"${place.name}: $query: $problem\n$random")
  }

  test("random topics have every kind of entry, and are read in every way") {
    val topics  = (1 to 60).map(i => topic(new Random(i.toLong), damaged = false))
    val reads   = topics.flatMap(t => LevelQuery.random(new Random(t.topic.name.hashCode.toLong), t).map(t.topic -> _))
    val found   = reads.map { case (topic, query) => query.expected(topic) }
    val queries = reads.map(_._2)
    val entries = topics.flatMap(t => t.topic.entries.map(t.topic -> _))
    val chunks  = entries.collect { case (_, TopicEntry(at, _, c: TopicEntry.Chunk, _, _)) => c.uuid -> at.ledgerId }
    val isIn    = entries.collect { case (t, TopicEntry(_, _, TopicEntry.Messages(Some(id)), _, _)) => t.aborted(id) }
    assert(Set(true, false).subsetOf(isIn.toSet), "messages of committed and of aborted transactions")
    assert(entries.exists(_._2.kind == TopicEntry.Marker))
    assert(chunks.groupBy(_._1).exists(_._2.distinct.size > 1), "chunks in several ledgers")
    assert(topics.exists(_.trimmed.nonEmpty) && topics.exists(_.topic.ledgers.last.entries.isEmpty))
    assert(found.exists(_.incomplete > 0) && found.exists(_.lost > 0) && found.exists(_.error.nonEmpty))
    assert(queries.exists(!_.from.isWholeEntry) && queries.exists(!_.to.isWholeEntry), "ranges inside of batches")
    assert(queries.exists(_.limit.nonEmpty) && queries.exists(_.isCount) && queries.exists(_.stream.nonEmpty))
    assert(queries.exists(_.bounds != PruningBounds.Everything))
  }

  test("messages much larger than those before a gap, of which few fit into the read-ahead, are read") {
    val (topic, query) = made(Seq(40 -> 10), Seq.fill(12)(0 -> 3000))
    val little         = query.copy(options = Map("readAheadBytes" -> "2k"))
    for (place <- ReadPlace.all)
      assertEquals(differences(topic, topic, place, Seq(little), new Random(1)), Nil, place.name)
  }

  for (place <- ReadPlace.all) test(s"control, ${place.name}: a ledger that lacks its last entry is noticed") {
    val (whole, query) =
      first(t => t.ledgers.size > 2 && t.ledgers.head.entries.size > 1 && isPlain(t.ledgers.head.entries.last))
    val shorter = whole.ledgers.head.copy(entries = whole.ledgers.head.entries.init)
    val lacking = whole.copy(ledgers = shorter +: whole.ledgers.tail)
    val found   = differences(lacking, whole, place, Seq(query), new Random(1))
    assert(found.exists(_._2.startsWith("missing rows")), found)
    assertEquals(differences(lacking, lacking, place, Seq(query), new Random(1)), Nil)
  }

  for (place <- ReadPlace.all) test(s"control, ${place.name}: messages of an aborted transaction are noticed") {
    val (whole, query) = first(_.aborted.nonEmpty)
    val found          = differences(whole.copy(aborted = Set.empty), whole, place, Seq(query), new Random(1))
    assert(found.exists(_._2.startsWith("strange rows")), found)
  }
}
