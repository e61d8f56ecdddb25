package io.github.pulsarspark.common

import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.file.StandardOpenOption.{CREATE_NEW, SPARSE, WRITE}
import java.nio.file.{Files, Path}
import java.util.concurrent.{CyclicBarrier, Executors}

import scala.concurrent.duration.Duration
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.FileAlreadyExistsException

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError

class WriteOnceFileSuite extends UnitSuite {

  private val folder = FunFixture[Path](
    _ => Files.createTempDirectory("once"),
    all => Files.walk(all).iterator.asScala.toSeq.reverse.foreach(Files.delete)
  )

  private def file(folder: Path, name: String) = new WriteOnceFile(folder.toString, name, new Configuration)

  folder.test("a file keeps its first text, and nothing is left beside it") { folder =>
    file(folder, "one.json").write("first")
    val error = intercept[FileAlreadyExistsException](file(folder, "one.json").write("second"))
    assert(error.getMessage.contains("two queries use one checkpoint"), error.getMessage)
    assertEquals(file(folder, "one.json").read(), "first")
    assertEquals(Files.list(folder).iterator.asScala.map(_.getFileName.toString).toSeq, Seq("one.json"))
  }

  folder.test("a file without an end is not read") { folder =>
    Using.resource(FileChannel.open(folder.resolve("one.json"), CREATE_NEW, WRITE, SPARSE))(
      _.write(ByteBuffer.wrap(Array[Byte](1)), WriteOnceFile.MaxBytes.toLong)
    )
    val error = intercept[RuntimeException with PulsarError](file(folder, "one.json").read())
    assertEquals(error.condition, "PULSAR_CHECKPOINT_MALFORMED")
    assert(error.parameters("where").endsWith("one.json"), error.parameters("where"))
  }

  folder.test("of writers at the same time one alone writes, on a local path too") { folder =>
    val writers                             = 4
    val pool                                = Executors.newFixedThreadPool(writers)
    implicit val executor: ExecutionContext = ExecutionContext.fromExecutor(pool)
    try
      (1 to 20).foreach { round =>
        val together = new CyclicBarrier(writers)
        val wrote    = Await.result(
          Future.traverse((1 to writers).toList)(writer =>
            Future {
              val mine = file(folder, s"$round.json")
              together.await()
              Option.when(mine.writeIfAbsent(s"$writer"))(s"$writer")
            }
          ),
          Duration(60, "s")
        )
        assertEquals(wrote.flatten, List(file(folder, s"$round.json").read()))
      }
    finally pool.shutdownNow()
  }
}
