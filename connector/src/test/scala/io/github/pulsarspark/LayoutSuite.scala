package io.github.pulsarspark

import java.nio.file.{Files, Path}

import scala.annotation.tailrec
import scala.util.matching.Regex

import io.github.pulsarspark.errors.Conditions

/** Keeps the shape of the sources that docs/develop/overview.md describes. */
class LayoutSuite extends UnitSuite {
  import LayoutSuite._

  private val main = Seq(Path.of("src/main"), Path.of("connector/src/main")).find(Files.isDirectory(_)).getOrElse(
    fail("no sources here")
  )

  private val files = SourceFile.under(main.resolve("scala")) ++ SourceFile.under(main.resolve("java"))
  private val own   = files.filterNot(f => Foreign.contains(f.qualifiedName))

  private def name(file: SourceFile): String =
    s"${file.room.replace('.', '/')}/${file.path.getFileName}".stripPrefix("/")

  /** The room of a file; those in packages of others belong to the room that uses them. */
  private def home(file: SourceFile): String = Foreign.getOrElse(file.qualifiedName, file.room)

  private def none(what: String)(found: Seq[String]): Unit =
    assert(found.isEmpty, found.mkString(s"$what:\n  ", "\n  ", ""))

  test("every package has its place in the order") {
    assert(files.size > 200, files.size)
    none("packages without a place")(files.map(home).distinct.filterNot(Order.contains))
    none("places without a package")(Order.filterNot(files.map(home).contains))
  }

  test("a package imports none that is beside it or above it") {
    val against = for {
      file <- files
      used <- file.imports.flatMap(i => roomOf(i)).distinct
      if used != home(file) && Order.indexOf(used) >= Order.indexOf(home(file))
    } yield s"${home(file)} -> $used"
    none("imports against the order")(against.distinct.sorted)
  }

  test("a folder has three to 16 files") {
    val sizes = own.groupBy(_.room).toSeq.map { case (room, all) => room -> all.size }
    none("crowded")(sizes.collect { case (room, size) if size > 16 => s"$room: $size" })
    val small = own.filter(f => sizes.exists { case (room, size) => room == f.room && size < 3 })
    assertEquals(small.map(name).sorted, Doors, "folders of fewer than three files")
  }

  test("no cycle of dependencies has more than two files") {
    val uses   = own.map(f => f -> own.filter(f.uses)).toMap
    val cycles = stronglyConnected(uses).filter(_.size > 2).map(_.toSeq.map(name).sorted.mkString(", "))
    none("files that need each other")(cycles.toSeq.sorted)
  }

  test("no file uses more than 22 others") {
    none("hubs")(own.map(f => f -> own.count(f.uses)).collect { case (f, n) if n > 22 => s"${name(f)}: $n" })
  }

  test("a file defines one thing for other packages") {
    val several = own.collect { case f if f.definitions.count(_._2) > 1 => name(f) }
    assertEquals(several.sorted, Families)
  }

  test("files are short, and so are their lines") {
    none("longer than 300 lines")(own.collect { case f if f.lines.size > 300 => s"${name(f)}: ${f.lines.size}" })
    val sizes = own.map(_.lines.size).sorted
    assert(sizes(sizes.size / 2) <= 110, s"median ${sizes(sizes.size / 2)}")
    none("wider than 120")(
      files.flatMap(f =>
        f.lines.zipWithIndex.collect {
          case (l, i) if l.length > 120 && !l.startsWith("import ") => s"${name(f)}:${i + 1}"
        }
      )
    )
  }

  test("only the rooms that speak with servers know netty, Pulsar and BookKeeper") {
    def outside(prefix: String, rooms: String*) = none(s"$prefix outside ${rooms.mkString(", ")}") {
      own.filterNot(f => rooms.contains(f.room.takeWhile(_ != '.'))).flatMap(f =>
        f.imports.filter(_.startsWith(prefix)).map(i => s"${name(f)}: $i")
      )
    }
    outside("io.netty", "common", "format", "pulsar", "storage")
    outside("org.apache.pulsar", "common", "format", "pulsar")
    outside("org.apache.bookkeeper", "storage")
    none("Pulsar's client in format") {
      own.filter(_.room.startsWith("format")).flatMap(_.imports.filter(_.startsWith("org.apache.pulsar.client")))
    }
  }

  test("positions, entries, options and errors know nothing of Spark but the Offset that a stream hands over") {
    none("Spark") {
      own
        .filterNot(name(_) == "options/SessionOptions.scala") // where Spark keeps options
        .filter(f => Set("position", "format", "options", "errors")(f.room.takeWhile(_ != '.'))).flatMap(f =>
          f.imports
            .filter(i =>
              i.startsWith("org.apache.spark") && !i.endsWith("streaming.Offset") && !i.endsWith("SparkThrowable")
            )
            .map(i => s"${name(f)}: $i")
        )
    }
  }

  test("Spark's inner packages are imported where nothing else will do") {
    val inner =
      own.filter(_.imports.exists(i =>
        i.startsWith("org.apache.spark.sql.execution") || i.startsWith("org.apache.spark.sql.internal")
      ))
    assertEquals(inner.map(name).sorted,
      Seq("inspect/reads/ReadPlans.scala", "write/AppendsUpdates.scala",
        "write/exactlyonce/TaskAttempt.scala"))
  }

  test("names explain themselves") {
    none("vague names")(own.map(name).filter(_.matches(".*(Utils?|Helper|Manager|Impl)\\.(scala|java)")))
  }

  test("documentation of a definition opens with a verb or a noun") {
    val start = "/*" + "*"
    val wrong = SourceFile(main, "", Seq(s"$start What it is. */", start, " * The same.", " */", s"$start Whole. */"))
    assertEquals(wrong.openings(Opening).map(_._1), Seq(1, 3))
    val all = files ++ SourceFile.under(main.resolveSibling("test").resolve("scala"))
    none("other openings")(for (f <- all; (line, text) <- f.openings(Opening)) yield s"${name(f)}:$line: $text")
  }

  test("errors are made by Conditions, and each condition is raised here or in Python") {
    none("names of conditions in texts")(own.filter(_.lines.exists(_.contains("\"PULSAR_"))).map(name))
    val raised = own.flatMap(_.lines).flatMap("""Conditions\.(\w+)\(""".r.findAllMatchIn(_).map(_.group(1))).toSet
    val python = SourceFile.text(main.toAbsolutePath.resolve("../../../python/pulsar_spark").normalize, ".py")
    none("raised nowhere")(
      Conditions.all
        .filterNot(c => raised(c.getClass.getSimpleName.stripSuffix("$")) || python.contains(s"\"${c.name}\""))
        .map(_.name)
    )
  }

  test("casts only at Spark's untyped seams") {
    val casts = own.flatMap(f => f.lines.filter(_.contains("asInstanceOf[")).map(l => s"${name(f)}: ${l.trim}"))
    assert(casts.size <= 15, casts.mkString("\n"))
  }

  /** Package in which an imported name of ours is defined. */
  private def roomOf(entry: String): Option[String] = Foreign.get(entry).orElse {
    Option.when(entry.startsWith(s"${SourceFile.Root}.") && !entry.startsWith(s"${SourceFile.Root}.shaded.")) {
      entry.stripPrefix(s"${SourceFile.Root}.").split('.').takeWhile(part => part.head.isLower).mkString(".")
    }
  }

  private def stronglyConnected(uses: Map[SourceFile, Seq[SourceFile]]): Set[Set[SourceFile]] = {
    val usedBy = uses.toSeq.flatMap { case (f, all) => all.map(_ -> f) }.groupMap(_._1)(_._2)
    uses.keySet.map(f => reach(Set(f), uses) & reach(Set(f), usedBy))
  }

  @tailrec
  private def reach(from: Set[SourceFile], to: Map[SourceFile, Seq[SourceFile]]): Set[SourceFile] = {
    val all = from ++ from.flatMap(f => to.getOrElse(f, Nil))
    if (all == from) all else reach(all, to)
  }
}

private object LayoutSuite {

  /** A package may use those before it. */
  val Order: Seq[String] = Seq(
    "errors common policy options.registry options position",
    "format.entry format",
    "schema.convert schema.columns schema",
    "schema.primitive schema.avro schema.json schema.protobuf schema.keyvalue schema.rows",
    "pulsar.topics pulsar.crypto pulsar.admin pulsar.connection pulsar.transactions pulsar.schemas pulsar.feed pulsar.broker pulsar.tail",
    "pulsar.progress pulsar.journal pulsar.producer pulsar",
    "storage.segment storage.offload.format storage.offload",
    "storage.bookkeeper.bookies storage.bookkeeper.protocol storage.bookkeeper.client storage.bookkeeper storage storage.backlog",
    "metrics progress read.task read.tails read.plan read.stream.lag read.stream.limits read.stream.loss read.stream read write.exactlyonce write.exactlyonce.status write functions",
    "inspect.view inspect.doctor inspect.state inspect.topics inspect.reads inspect"
  ).flatMap(_.split(' ')) ++ Seq("", "catalog", "checkpoint.log", "checkpoint")

  /** Classes that have to live in a package of others, to reach its package-private members. */
  val Foreign: Map[String, String] = Map(
    "org.apache.pulsar.client.impl.AdminHttp"                 -> "pulsar.admin",
    "org.apache.pulsar.client.impl.AdminResponse"             -> "pulsar.admin",
    "org.apache.pulsar.client.impl.BoundsRequests"            -> "pulsar.feed",
    "org.apache.pulsar.client.impl.EntryConsumer"             -> "pulsar.feed",
    "org.apache.pulsar.client.impl.EntryQueue"                -> "pulsar.feed",
    "org.apache.pulsar.client.impl.UnbrokenSession"           -> "pulsar.feed",
    "org.apache.pulsar.client.impl.WithheldPermits"           -> "pulsar.feed",
    "org.apache.pulsar.client.impl.FeedRequest"               -> "pulsar.feed",
    "org.apache.pulsar.client.impl.MessageCounter"            -> "pulsar.feed",
    "org.apache.pulsar.client.impl.Outages"                   -> "pulsar.feed",
    "org.apache.pulsar.client.impl.PartitionConsumer"         -> "pulsar.feed",
    "org.apache.pulsar.client.impl.PositionConsumer"          -> "pulsar.feed",
    "org.apache.pulsar.client.impl.ProgressConsumer"          -> "pulsar.progress",
    "org.apache.pulsar.client.impl.WholeBatch"                -> "pulsar.producer",
    "org.apache.pulsar.client.impl.WholeBatchContainer"       -> "pulsar.producer",
    "org.apache.bookkeeper.client.BatchReads"                 -> "storage.bookkeeper.client",
    "org.apache.pulsar.client.impl.auth.oauth2.Redirects"     -> "pulsar.connection",
    "org.apache.pulsar.client.impl.auth.oauth2.SteppedOAuth2" -> "pulsar.connection"
  )

  /** First words that name neither what a thing is nor what it does. */
  val Opening: Regex = Seq(
    "What Whether How Why When Where Which Who Whoever Whatever The_same Same Those These They Their Its It Such Both",
    "Of As By In For From To On At With Without Within After Before Between Behind Below Above Beside Beyond Under",
    "Over Through Until While Since During Unless Because If So Than That Then But And Or Not Also Only Up Here There",
    "Nobody Somebody Everybody Nothing None Neither Some Most Far Must Has Have Is Are Was"
  ).flatMap(_.split(' ')).map(_.replace('_', ' ')).mkString("(?:", "|", ")\\b").r

  /** Files of small folders, which are the way into the folders below them. */
  val Doors: Seq[String] = Seq("pulsar/BrokerEntries.scala", "pulsar/PulsarConnection.scala", "read/PulsarScan.scala",
    "read/RealTimeMode.scala")

  /** Families of classes of one line each, which Spark makes by their names. */
  val Families: Seq[String] = Seq("metrics/Metrics.scala", "metrics/TierMetric.scala")
}
