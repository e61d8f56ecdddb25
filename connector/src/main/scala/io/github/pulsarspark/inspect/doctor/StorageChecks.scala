package io.github.pulsarspark.inspect.doctor

import scala.util.Using

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.storage.StorageTrial
import io.github.pulsarspark.storage.segment.HadoopSettings

/** Checks of what direct reads need: bookies and offloaded ledgers, from this machine.
  *
  * @param partitions
  *   full names of the topic partitions, as far as they are known
  */
private[doctor] final class StorageChecks(
    connection: () => PulsarConnection,
    options: ReadOptions,
    hadoop: HadoopSettings,
    partitions: () => Seq[String]
) {
  import StorageChecks._

  /** The checks in their order. */
  def all: Seq[Check] = Seq(
    Check(Bookies, AdminChecks.Name)(() => tried(bookies)),
    Check("direct read", Bookies)(() => tried(t => entry(t.entryOnBookies(), "no ledger on bookies has messages"))),
    Check("offloaded ledgers", AdminChecks.Name)(() => tried(t => entry(t.offloadedEntry(), "no ledger is offloaded")))
  )

  private def tried(check: StorageTrial => Finding): Finding = {
    val some = partitions().sorted.take(MaxPartitions)
    if (!options.mayReadSegments)
      Finding.Skipped("there are no direct reads without `admin.url`, or with readLevel=broker")
    else if (some.isEmpty) Finding.Skipped("no topic is named")
    else
      connection().admin.fold[Finding](Finding.Skipped("there is no admin service"))(admin =>
        Using.resource(new StorageTrial(admin, options, hadoop, some))(check)
      )
  }

  private def bookies(trial: StorageTrial): Finding = {
    val found    = trial.bookies()
    val problems = found.collect { case (bookie, Some(problem)) => s"$problem $bookie" }
    if (found.isEmpty) Finding.Skipped("no ledger is on bookies")
    else if (problems.isEmpty) Finding.Good(found.map(_._1).mkString(", "))
    else Finding.Bad(Conditions.BookieUnreachable(topic = partitions().min, bookies = problems.mkString(", ")))
  }

  private def entry(found: Option[Position], none: String): Finding =
    found.fold[Finding](Finding.Skipped(none))(position => Finding.Good(s"entry $position was read"))
}

private object StorageChecks {
  private val Bookies = "bookies"

  /** Number of partitions that stand for all others. */
  private val MaxPartitions = 8
}
