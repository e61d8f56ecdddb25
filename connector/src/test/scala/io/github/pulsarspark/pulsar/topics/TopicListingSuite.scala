package io.github.pulsarspark.pulsar.topics

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.pulsar.common.lookup.GetTopicsResult

import io.github.pulsarspark.UnitSuite

class TopicListingSuite extends UnitSuite {

  private val prefix = "persistent://public/default/"

  /** @param partitioned how many partitions topics have that have any */
  private final class Namespace(
      var topics: Seq[String],
      hasHashes: Boolean = true,
      partitioned: Map[String, Int] = Map("a" -> 2)
  ) {
    val hashes: mutable.Buffer[Option[String]] = mutable.Buffer.empty
    val asked: mutable.Buffer[String]          = mutable.Buffer.empty

    private def partitions(names: Seq[String]) = {
      asked ++= names.map(_.stripPrefix(prefix))
      partitioned.map { case (topic, n) => s"$prefix$topic" -> TopicNames.partitions(s"$prefix$topic", n) }
        .filter { case (topic, _) => names.contains(topic) }
    }

    val listing = new TopicListing(
      (namespace, hash) => {
        assertEquals(namespace.toString, "public/default")
        hashes += Option(hash)
        val own       = topics.sorted.mkString(",")
        val isChanged = !hasHashes || own != hash
        new GetTopicsResult((if (isChanged) topics.map(prefix + _) else Nil).asJava, if (hasHashes) own else null,
          false,
          isChanged)
      },
      partitions
    )

    def found(pattern: String): Map[String, Seq[String]] = listing.matching(pattern).partitions.map {
      case (topic, parts) => topic.stripPrefix(prefix) -> parts.map(_.stripPrefix(prefix))
    }
  }

  test("a topic that is named like a partition is a topic of its own") {
    val beside = new Namespace(Seq("orders", "orders-partition-7"))
    assertEquals(beside.found("orders.*"),
      Map("orders" -> Seq("orders"), "orders-partition-7" -> Seq("orders-partition-7")))
    assertEquals(beside.asked.toSeq, Nil)
    val above = new Namespace(Seq("a-partition-0", "a-partition-1", "a-partition-7"))
    assertEquals(above.found("a.*"),
      Map("a" -> Seq("a-partition-0", "a-partition-1"), "a-partition-7" -> Seq("a-partition-7")))
    val alone = new Namespace(Seq("gone-partition-0"))
    assertEquals(alone.found(".*"), Map("gone-partition-0" -> Seq("gone-partition-0")))
    assertEquals(alone.found("gone"), Map.empty[String, Seq[String]])
  }

  private def names(topics: String*) = {
    val namespace = new Namespace(topics, partitioned = Map("one" -> 1, "some" -> 4))
    (namespace.listing.names("public/default").map(_.stripPrefix(prefix)), namespace.asked.toSeq)
  }

  test("a list of names takes partitions without a gap for one topic, in one request") {
    val many = (0 to 11).map(n => s"wide-partition-$n")
    assertEquals(names(many ++ Seq("plain", "two-partition-1", "two-partition-0"): _*),
      (Seq("plain", "two", "wide"), Nil))
  }

  test("a list of names asks about partitions that prove nothing") {
    assertEquals(names("one-partition-0"), (Seq("one"), Seq("one")))
    assertEquals(names("gone-partition-0"), (Seq("gone-partition-0"), Seq("gone")))
    assertEquals(names("some-partition-1", "some-partition-3"), (Seq("some"), Seq("some")))
    assertEquals(names("like-partition-0", "like-partition-7"),
      (Seq("like-partition-0", "like-partition-7"), Seq("like")))
    assertEquals(names("top", "top-partition-0", "top-partition-1"),
      (Seq("top", "top-partition-0", "top-partition-1"), Nil))
  }

  test("a read believes no list of names") {
    val namespace = new Namespace(Seq("x-partition-0", "x-partition-1"))
    assertEquals(namespace.listing.names("public/default"), Seq(s"${prefix}x"))
    assertEquals(namespace.found(".*").keySet, Set("x-partition-0", "x-partition-1"))
    assertEquals(namespace.asked.toSeq, Seq("x"))
  }

  test("partitions are asked for once") {
    val namespace = new Namespace(Seq("a-partition-0"))
    namespace.found(".*")
    namespace.topics :+= "b"
    namespace.found(".*")
    assertEquals(namespace.asked.toSeq, Seq("a"))
  }

  test("a list names the topics that match, their partitions, and all topics") {
    val found =
      new Namespace(Seq("a-partition-1", "a-partition-0", "b", "__change_events")).listing.matching("[a]")
    assertEquals(found.partitions, Map(s"${prefix}a" -> Seq(s"${prefix}a-partition-0", s"${prefix}a-partition-1")))
    assertEquals(found.all, Seq(s"${prefix}a", s"${prefix}b"))
  }

  test("the broker learns the hash of the last list of a pattern, and an unchanged list is the same object") {
    val namespace = new Namespace(Seq("a", "b"))
    val first     = namespace.listing.matching(".*")
    assert(namespace.listing.matching(".*") eq first)
    namespace.topics :+= "c"
    assertEquals(namespace.listing.matching(".*").partitions.keySet, Set("a", "b", "c").map(prefix + _))
    assertEquals(namespace.listing.matching("a").partitions.keySet, Set(s"${prefix}a"))
    assertEquals(namespace.hashes.toSeq, Seq(None, Some("a,b"), Some("a,b"), None))
  }

  test("a broker that reports no hash lists all topics each time") {
    val namespace = new Namespace(Seq("a"), hasHashes = false)
    namespace.listing.matching(".*")
    namespace.topics = Nil
    assertEquals(namespace.listing.matching(".*").partitions, Map.empty[String, Seq[String]])
    assertEquals(namespace.hashes.toSeq, Seq(None, None))
  }
}
