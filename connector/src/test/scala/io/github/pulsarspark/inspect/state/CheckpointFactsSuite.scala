package io.github.pulsarspark.inspect.state

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.conf.Configuration

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.{Conditions, PulsarError}

class CheckpointFactsSuite extends UnitSuite {

  private val Topic    = "persistent://public/default/t"
  private val Metadata = """{"batchWatermarkMs":0,"conf":{}}"""

  private val recorded =
    Seq(Path.of("../integration/restarts/checkpoints"), Path.of("integration/restarts/checkpoints")).find(
      Files.isDirectory(_)
    ).get

  private val folder = FunFixture[Path](_ => Files.createTempDirectory("checkpoint"), _ => ())

  private def write(folder: Path, files: (String, String)*): Unit = files.foreach { case (name, text) =>
    val file = folder.resolve(name)
    Files.createDirectories(file.getParent)
    Files.writeString(file, text)
  }

  /** A query with micro-batches 0 and 1, of which 1 is not committed. */
  private def query(folder: Path, offsets: String*): Unit = write(
    folder,
    "metadata"  -> """{"id":"6f0f"}""",
    "commits/0" -> s"v1\n{}",
    "offsets/0" -> (Seq("v1", Metadata) ++ offsets).mkString("\n"),
    "offsets/1" -> (Seq("v1", Metadata) ++ offsets.map(_.replace(":4\"", ":9\""))).mkString("\n")
  )

  private def facts(folder: Path): Seq[CheckpointFact] =
    new CheckpointFacts(Checkpoint(folder.toString, new Configuration)).all

  private def positions(facts: Seq[CheckpointFact], record: String) =
    facts.filter(_.record == record).map(f => f.topic.orNull -> f.position.orNull)

  private def words(facts: Seq[CheckpointFact]) = facts.filter(_.record == "damaged").flatMap(_.detail)

  private def own(version: Int, position: String) =
    if (version == 1) s"""{"version":1,"positions":{"$Topic":"$position"}}"""
    else s"""{"version":2,"positions":{"persistent://public/default/":{"t":"$position"}}}"""

  folder.test("the connector's own, of both versions: start, what is committed, what is planned, losses") { folder =>
    Seq(1, 2).foreach { version =>
      val here = folder.resolve(version.toString)
      val loss =
        s"""[{"condition":"PULSAR_DATA_LOSS.TRIMMED","from":"3:1","reason":"trimmed","to":"3:2","topic":"$Topic"}]"""
      query(here, own(version, "3:4"))
      write(here, "sources/0/initial-offset.json" -> own(version, "3:-1"), "sources/0/losses/1700.json" -> loss)
      val found = facts(here)
      assertEquals(found.flatMap(_.kind).distinct, Seq(s"pulsar-spark, version $version"))
      assertEquals(positions(found, "start"), Seq(Topic -> "3:-1"))
      assertEquals(positions(found, "committed"), Seq(Topic -> "3:4"))
      assertEquals(positions(found, "planned"), Seq(Topic -> "3:9"))
      assertEquals(positions(found, "loss"), Seq(Topic -> "3:2"))
      assertEquals(found.find(_.record == "loss").flatMap(_.detail),
        Some("PULSAR_DATA_LOSS.TRIMMED: messages after 3:1 were skipped: trimmed"))
      assertEquals(
        found.head.batch -> found.head.detail,
        Some(0L)         -> Some(
          "query 6f0f; planned: micro-batches 0 to 1; committed: micro-batch 0; the next start repeats micro-batch 1"
        )
      )
      assertEquals(words(found), Nil)
    }
  }

  private def times(facts: Seq[CheckpointFact]) = facts.filter(_.record == "time").flatMap(_.detail)

  folder.test("the time up to which is read: of the plan, or of a marked message that is older, else unknown") {
    folder =>
      val timed  = Metadata.replace(""""conf"""", """"batchTimestampMs":1700000000000,"conf"""")
      val marked = own(2, "3:4").dropRight(1) + s""","marks":{"$Topic":"3:4 1699999990000 0a"}}"""
      val cases  = Seq(
        (timed, own(2, "3:4"), Seq("2023-11-14T22:13:20Z")),
        (timed, marked, Seq("2023-11-14T22:13:10Z")),
        (Metadata, marked, Seq("2023-11-14T22:13:10Z")),
        (Metadata, own(2, "3:4"), Nil),
        (timed, "{}", Nil)
      )
      cases.zipWithIndex.foreach { case ((metadata, offset, time), number) =>
        val here = folder.resolve(number.toString)
        query(here, offset)
        write(here, "offsets/0" -> s"v1\n$metadata\n$offset")
        assertEquals(times(facts(here)), time)
      }
  }

  test("what each line of Spark wrote, with sources by number and by name") {
    val lines = Using.resource(Files.list(recorded))(_.iterator.asScala.toSeq.sorted)
    assert(lines.size >= 6, lines)
    lines.foreach { line =>
      val found = facts(line)
      assertEquals(words(found), Nil, line)
      assertEquals(found.flatMap(_.source).distinct, Seq(if (line.toString.endsWith("-named")) "lines" else "0"), line)
      Seq("start", "committed", "planned").foreach(record =>
        assertEquals(positions(found, record).size, 2, s"$line $record")
      )
    }
  }

  folder.test("that of streamnative/pulsar-spark") { folder =>
    val id = "[8,3,16,4,24,0,32,2,48,0]" // ledger 3, entry 4, batch index 2
    query(folder, s"""{"$Topic":$id}""")
    write(folder, "sources/0/0" -> s"v1\n{\"$Topic\":[8,3,16,0,24,0]}")
    val found = facts(folder)
    assertEquals(found.flatMap(_.kind).distinct, Seq("streamnative/pulsar-spark"))
    assertEquals(positions(found, "committed"), Seq(Topic -> "3:4"))
    assertEquals(positions(found, "start"), Seq(Topic -> "3:-1"))
    assertEquals(words(found), Nil)
  }

  folder.test("those of other sources are shown as they are") { folder =>
    Seq(
      """{"t":{"0":5}}"""   -> "a source such as kafka",
      "41"                  -> "a source that counts, such as rate",
      """{"logOffset":3}""" -> "a source of files",
      """{"shard":"x"}"""   -> "unknown"
    ).foreach { case (offset, kind) =>
      val here = folder.resolve(kind.take(20).replace(' ', '-'))
      query(here, own(2, "3:4"), offset)
      write(here, "sources/0/initial-offset.json" -> own(2, "3:-1"), "sources/1/0" -> s"\u0000v1\n$offset")
      val other = facts(here).filter(_.source.contains("1"))
      assertEquals(other.flatMap(_.kind).distinct, Seq(kind))
      assertEquals(other.map(f => f.record -> f.detail), Seq("committed" -> Some(offset), "planned" -> Some(offset)))
    }
  }

  folder.test("files that are torn are told, and the rest is shown") { folder =>
    query(folder, own(2, "3:4"))
    write(
      folder,
      "offsets/1"                     -> s"v1\n$Metadata\n{\"version\":2,\"posi",
      "sources/0/initial-offset.json" -> own(2, "3:-1"),
      "sources/0/losses/1.json"       -> "[{",
      "commits/0"                     -> ""
    )
    val found = facts(folder)
    assertEquals(positions(found, "committed"), Seq(Topic -> "3:4"))
    assertEquals(
      words(found),
      Seq(
        s"file:$folder/commits/0: it is empty",
        s"file:$folder/offsets/1: the offset is not JSON",
        s"file:$folder/sources/0/losses/1.json: it is not a list of losses"
      ).map(_.stripPrefix("file:"))
    )
    write(folder, "offsets/1" -> "v1\n{\"batchWater")
    assert(words(facts(folder)).exists(_.endsWith("offsets/1: it ends too early")), words(facts(folder)))
    write(folder, "offsets/1" -> "garbage")
    assert(words(facts(folder)).exists(_.endsWith("offsets/1: its first line is not a version")))
    write(folder, "offsets/1" -> s"v1\n$Metadata\n${own(2, "3:x")}")
    assert(words(facts(folder)).exists(_.endsWith("`3:x` of persistent://public/default/t is not a position")))
  }

  folder.test("copies that lack something are told") { folder =>
    query(folder, own(2, "3:4"))
    assertEquals(words(facts(folder)),
      Seq(s"$folder/sources/0/initial-offset.json: it does not exist: the folder was copied without it"))
    write(folder, "commits/7" -> "v1\n{}")
    assert(words(facts(folder)).exists(_.startsWith("micro-batch 7 is committed, but offsets/7 does not exist")))
  }

  folder.test("a query that has planned nothing") { folder =>
    write(folder, "metadata" -> """{"id":"6f0f"}""")
    assertEquals(facts(folder).map(f => f.record -> f.detail),
      Seq("query" -> Some("query 6f0f; planned: none; committed: none")))
  }

  folder.test("folders that are no checkpoint") { folder =>
    def refused(path: Path): Map[String, String] = intercept[RuntimeException](facts(path)) match {
      case e: PulsarError =>
        assert(Conditions.CheckpointNotFound.is(e), e)
        e.parameters
      case other => fail(other.toString)
    }
    assertEquals(refused(folder.resolve("no"))("why"), "it does not exist")
    assertEquals(refused(folder)("why"), "it is empty")
    query(folder.resolve("one"), own(2, "3:4"))
    assert(refused(folder)("why").startsWith("it has one in it, "), refused(folder)("why"))
    assert(refused(folder.resolve("one/offsets"))("why").startsWith("it is a part of one, "))
    write(folder, "other/data.parquet" -> "x")
    assertEquals(refused(folder.resolve("other"))("why"), "it has neither `metadata` nor `offsets`")
  }

  test("a file system that is not there") {
    val failure = intercept[RuntimeException](Checkpoint("nosuch://bucket/x", new Configuration))
    assert(
      failure.getMessage.startsWith("[PULSAR_CHECKPOINT_UNREADABLE] The checkpoint nosuch://bucket/x cannot be read: "),
      failure.getMessage
    )
  }
}
