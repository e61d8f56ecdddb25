package io.github.pulsarspark.inspect.state

import java.nio.file.{Files, Path}

import org.apache.hadoop.conf.Configuration

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.position.Position

class CheckpointPositionsSuite extends UnitSuite {

  private val Topic = "persistent://public/default/t"

  private val folder = FunFixture[Path](_ => Files.createTempDirectory("checkpoint"), _ => ())

  private def write(folder: Path, files: (String, String)*): Unit = files.foreach { case (name, text) =>
    val file = folder.resolve(name)
    Files.createDirectories(file.getParent)
    Files.writeString(file, text)
  }

  private def offsets(sources: String*) = (Seq("v1", "{}") ++ sources).mkString("\n")

  private def own(position: String, topic: String = Topic) = s"""{"version":1,"positions":{"$topic":"$position"}}"""

  private def positions(folder: Path) = CheckpointPositions.of(folder.toString, new Configuration)

  private def refused(folder: Path)(condition: String, words: String*): Unit =
    intercept[RuntimeException](positions(folder)) match {
      case e: PulsarError =>
        assertEquals(e.condition, condition)
        assert(words.forall(e.getMessage.contains), e.getMessage)
      case other => fail(other.toString)
    }

  folder.test("committed positions, else those of the start, for each source") { folder =>
    write(folder, "metadata" -> """{"id":"6f0f"}""")
    refused(folder)("PULSAR_CHECKPOINT_WITHOUT_POSITION", "has planned no micro-batch")
    write(folder, "sources/0/initial-offset.json" -> own("3:-1"), "offsets/0" -> offsets(own("3:4")))
    assertEquals(positions(folder), Map(Topic -> Position(3, -1)))
    write(folder, "commits/0" -> "v1\n{}", "offsets/1" -> offsets(own("3:9")))
    assertEquals(positions(folder), Map(Topic -> Position(3, 4)))
  }

  folder.test("of a topic that several sources read, where the last of them is") { folder =>
    val (first, second) = (own("3:9"), own("3:4:2"))
    write(folder, "metadata" -> "{}", "commits/0" -> "v1\n{}", "offsets/0" -> offsets(first, second, "41"))
    Seq(0, 1).foreach(n => write(folder, s"sources/$n/initial-offset.json" -> own("3:-1")))
    assertEquals(positions(folder), Map(Topic -> Position(3, 4, 2)))
  }

  folder.test("streamnative/pulsar-spark's are read, others are named") { folder =>
    val (theirs, kafka) = (folder.resolve("theirs"), folder.resolve("kafka"))
    write(theirs, "metadata" -> "{}", "commits/0" -> "v1\n{}", "offsets/0" -> offsets(s"""{"$Topic":[8,3,16,4]}"""))
    assertEquals(positions(theirs), Map(Topic -> Position(3, 4)))
    write(kafka, "metadata" -> "{}", "commits/0" -> "v1\n{}", "offsets/0" -> offsets("""{"t":{"0":5}}"""))
    refused(kafka)("PULSAR_CHECKPOINT_FOREIGN", "a source such as kafka", """{"t":{"0":5}}""")
  }

  folder.test("a checkpoint that is damaged has no lag") { folder =>
    write(folder, "metadata" -> "{}", "commits/7" -> "v1\n{}", "offsets/6" -> offsets(own("3:4")))
    refused(folder)("PULSAR_CHECKPOINT_MALFORMED", "micro-batch 7 is committed")
  }
}
