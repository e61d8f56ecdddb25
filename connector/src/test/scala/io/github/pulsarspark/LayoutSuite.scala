package io.github.pulsarspark

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

import munit.FunSuite

/** Keeps the shape of the sources that docs/architecture.md describes. */
class LayoutSuite extends FunSuite {

  private val sources =
    Seq(
      Path.of("src/main/scala"),
      Path.of("connector/src/main/scala")
    ).find(Files.isDirectory(_)).getOrElse(fail("no sources here")).toAbsolutePath
  private val root = sources.resolve("io/github/pulsarspark")

  private val files: Seq[(Path, Seq[String])] = Using.resource(Files.walk(sources)) { paths =>
    paths.iterator.asScala.filter(_.toString.endsWith(".scala")).map(p => p -> Files.readAllLines(p).asScala.toSeq).toSeq
  }

  /** A package may use those before it. Packages in the same place do not know each other. */
  private val order: Seq[Set[String]] =
    Seq(
      Set("errors"),
      Set("options", "offsets"),
      Set("log"),
      Set("schema"),
      Set("client"),
      Set("storage"),
      Set("metrics"),
      Set("read"),
      Set("write", "api"),
      Set("")
    )

  /** The package under the root's; what is below it belongs to it. */
  private def packageOf(file: Path): String = root.relativize(file.getParent).getName(0).toString

  private def imports(lines: Seq[String]): Seq[String] = lines.map(_.trim).filter(_.startsWith("import ")).map(_.stripPrefix("import "))

  private def level(name: String): Int = order.indexWhere(_(name))

  private def none(what: String)(found: Seq[String]): Unit = assert(found.isEmpty, found.mkString(s"$what:\n  ", "\n  ", ""))

  test("there is something to look at") {
    assert(files.size > 50, files.size)
    none("packages without a place in the order")(files.map(f => packageOf(f._1)).distinct.filter(level(_) < 0))
  }

  test("no package uses one that comes after it") {
    val own = raw"io\.github\.pulsarspark\.([a-z]+)\..*".r
    none("imports against the order") {
      for {
        (file, lines) <- files
        own(used)     <- imports(lines)
        if used != packageOf(file) && level(used) >= level(packageOf(file))
      } yield s"$file imports $used"
    }
  }

  test("only log, client and storage know netty, only they Pulsar and BookKeeper") {
    def outside(prefix: String, packages: String*) = none(s"$prefix outside ${packages.mkString(", ")}") {
      for {
        (file, lines) <- files
        used          <- imports(lines)
        if used.startsWith(prefix) && !packages.contains(packageOf(file))
      } yield s"$file: $used"
    }
    outside("io.netty", "log", "client", "storage")
    outside("org.apache.pulsar", "log", "client")
    outside("org.apache.bookkeeper", "storage")
    none("Pulsar's client in log")(files.filter(f => packageOf(f._1) == "log").flatMap(f =>
      imports(f._2).filter(_.startsWith("org.apache.pulsar.client"))
    ))
  }

  test("offsets and log know nothing of Spark but the Offset that a stream hands over") {
    none("Spark in offsets or log") {
      files
        .filter(f => Set("offsets", "log", "options", "errors")(packageOf(f._1)))
        .flatMap(f =>
          imports(f._2).filter(i => i.startsWith("org.apache.spark") && !i.endsWith("streaming.Offset") && !i.endsWith("SparkThrowable"))
        )
    }
  }

  test("Spark's inner packages are imported where nothing else will do") {
    val inner = files.flatMap { case (file, lines) =>
      imports(lines).filter(i => i.startsWith("org.apache.spark.sql.execution") || i.startsWith("org.apache.spark.sql.internal")).map(_ =>
        root.relativize(file).toString
      )
    }
    assertEquals(inner.sorted, Seq("api/ReadPlans.scala", "write/AppendsUpdates.scala"))
  }

  test("nothing lives in Spark's packages") {
    none("files in org.apache.spark")(files.map(_._1.toString).filter(_.contains("org/apache/spark")))
  }

  test("files are short") {
    none("longer than 300 lines")(files.filter(_._2.size > 300).map { case (file, lines) => s"$file: ${lines.size}" })
    val sizes = files.map(_._2.size).sorted
    assert(sizes(sizes.size / 2) <= 130, s"median ${sizes(sizes.size / 2)}")
  }

  test("names explain themselves") {
    none("vague names")(files.map(_._1.getFileName.toString).filter(_.matches(".*(Utils?|Helper|Manager|Impl)\\.scala")))
  }

  test("casts only at Spark's untyped seams") {
    val casts = files.flatMap { case (file, lines) =>
      lines.filter(_.contains("asInstanceOf[")).map(l => s"${root.relativize(file)}: ${l.trim}")
    }
    assert(casts.size <= 15, casts.mkString("\n"))
  }
}
