package io.github.pulsarspark.micro

import java.nio.file.{Files, Path}

import io.github.pulsarspark.format.{Decompression, EntryThroughput}
import io.github.pulsarspark.schema.protobuf.ProtobufThroughput
import io.github.pulsarspark.schema.rows.{EventRecords, RecordThroughput}

/** Measures single parts of the connector on one thread and writes `benchmarks/results/micro.md`. The number of rounds
  * can be given.
  */
object MicroBenchmarks {
  private val Result = Path.of("benchmarks", "results", "micro.md")

  private val Head =
    """# Single parts
      |
      |Made by `make bench-micro`, not by hand: CPU of one thread in nanoseconds per message or payload, the median of
      |%d rounds in turns after warming up, without Spark and without servers. A ratio is that of the library to the connector.
      |""".stripMargin

  def main(args: Array[String]): Unit = {
    val rounds   = args.headOption.fold(9)(_.toInt)
    val records  = Seq(10, 30).map(new EventRecords(_))
    val sections = Seq(
      "From entries to messages, each value copied once" -> (() => EntryThroughput.cases()),
      "Payloads of batches, unpacked"                    -> (() => Decompression.cases()),
      "AVRO and JSON records"                            -> (() => records.flatMap(RecordThroughput.cases)),
      "PROTOBUF_NATIVE messages"                         -> (() => ProtobufThroughput.cases())
    )
    val tables = sections.map { case (title, cases) => s"\n## $title\n\n${table(Turns(cases(), rounds))}" }
    Files.writeString(Result, Head.format(rounds) + tables.mkString)
    println(tables.mkString)
  }

  /** A row for each job, a column for each contender, and how a library compares with the connector. */
  private def table(costs: Seq[(Turns.Case, Double)]): String = {
    val contenders = costs.map(_._1.contender).distinct
    val isCompared = contenders.size == 2 && contenders.head == "connector"
    val cost       = costs.map { case (c, nanos) => (c.job, c.contender) -> nanos }.toMap
    val head       = ("message" +: contenders) ++ Option.when(isCompared)("ratio")
    val rows       = costs.map(_._1.job).distinct.map { job =>
      val cells = contenders.map(c => cost.get(job -> c))
      val ratio = Option.when(isCompared)(cells.flatten match {
        case Seq(ours, theirs) => f"${theirs / ours}%.1f x"
        case _                 => ""
      })
      (job +: cells.map(_.fold("")(nanos => f"$nanos%.0f"))) ++ ratio
    }
    (head +: ("---" +: head.tail.map(_ => "--:")) +: rows).map(_.mkString("| ", " | ", " |\n")).mkString
  }
}
