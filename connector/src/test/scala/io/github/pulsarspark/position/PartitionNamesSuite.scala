package io.github.pulsarspark.position

import scala.collection.immutable.SortedMap

import com.fasterxml.jackson.databind.ObjectMapper
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite

/** Names of partitions in the JSON of offsets: written short, read as they were, whatever topics are called. */
class PartitionNamesSuite extends PropertySuite {

  private val mapper = new ObjectMapper

  private def written(names: String*): String = {
    val node = mapper.createObjectNode()
    PartitionNames.write(node,
      SortedMap.from(names.zipWithIndex.map { case (name, i) => name -> Position(i.toLong, 0) }))
    node.toString
  }

  private def read(json: String): Map[String, String] =
    PartitionNames.read(mapper.readTree(json)).map { case (name, at) => name -> at.asText }.toMap

  /** Names that look like others: partitions, what only looks like one, and topics without a namespace. */
  private val name = for {
    prefix <- Gen.oneOf("persistent://a/b/", "persistent://a/c/", "x/", "")
    topic  <- Gen.oneOf("t", "u", "t-partition", "1", "t-partition-0")
    suffix <- Gen.oneOf("", "", "-partition-0", "-partition-1", "-partition-12", "-partition-01", "-partition-",
      "-partition-1234567890")
  } yield s"$prefix$topic$suffix"

  property("any names are read as they were written") {
    forAll(Gen.listOf(name)) { names =>
      val all = names.distinct.sorted
      assertEquals(read(written(all: _*)),
        all.zipWithIndex.map { case (n, i) => n -> Position(i.toLong, 0).toString }.toMap)
    }
  }

  test("what partitions have in common is written once") {
    assertEquals(written("persistent://a/b/t-partition-0", "persistent://a/b/t-partition-10"),
      """{"persistent://a/b/":{"t":{"0":"0:0","10":"1:0"}}}""")
    assertEquals(
      written("persistent://a/b/t", "persistent://a/b/t-partition-0"),
      """{"persistent://a/b/":{"t":{"":"0:0","0":"1:0"}}}""",
      "a topic that has partitions of its name besides"
    )
    assertEquals(written("persistent://a/b/t-partition-01"), """{"persistent://a/b/":{"t-partition-01":"0:0"}}""",
      "no partition is called so")
  }

  test("the first version of offsets has full names; names that are not below a namespace stay as they are") {
    assertEquals(
      read("""{"persistent://a/b/t-partition-3": "1:2", "persistent://a/b/u": "3:4"}"""),
      Map("persistent://a/b/t-partition-3" -> "1:2", "persistent://a/b/u" -> "3:4")
    )
    assertEquals(read("""{"t": {"0": "1:2"}}""").keySet, Set("t"))
    assertEquals(read("""{"": {"t": {"0": "1:2"}}}"""), Map("t-partition-0" -> "1:2"))
  }

  test("offsets of Spark's own sources are recognized by their form") {
    def source(json: String) = ForeignOffset.source(mapper.readTree(json))
    assertEquals(source("5"), Some("a source that counts, such as rate"))
    assertEquals(source("""{"logOffset": 3}"""), Some("a source of files"))
    assertEquals(source("""{"batchId": 3}"""), Some("a source of files"))
    assertEquals(source("""{"t": {"0": 12, "1": 3}}"""), Some("a source such as kafka"))
    assertEquals(source("""{"t": {"0": 12}, "u": {}}"""), Some("a source such as kafka"))
    Seq("""{"t": {"0": "12"}}""", """{"t": 5}""", "{}", "[]", """{"t": {"0": 1.5}}""", "1.5", "\"5\"")
      .foreach(json => assertEquals(source(json), None, json))
  }
}
