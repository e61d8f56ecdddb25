package io.github.pulsarspark.inspect

import io.github.pulsarspark.inspect.checkpoint.CheckpointView
import io.github.pulsarspark.inspect.doctor.DoctorView
import io.github.pulsarspark.inspect.reads.{LagView, PlanView, PositionsView}
import io.github.pulsarspark.inspect.sinks.{SinkView, SinksView}
import io.github.pulsarspark.inspect.topics.{LedgersView, PartitionsView, SchemasView, SubscriptionsView, TopicsView}
import io.github.pulsarspark.inspect.view.MetadataView
import io.github.pulsarspark.options.MetadataOptions
import io.github.pulsarspark.options.registry.RawOptions

/** The one list of metadata tables. Each is a value of the option `metadata`. */
private[pulsarspark] object MetadataViews {

  val all: Seq[MetadataView] = Seq(
    TopicsView,
    PartitionsView,
    LedgersView,
    SchemasView,
    SubscriptionsView,
    PositionsView,
    PlanView,
    LagView,
    CheckpointView,
    SinksView,
    SinkView,
    DoctorView
  )

  def find(name: String): Option[MetadataView] = all.find(_.name.equalsIgnoreCase(name.trim))

  /** The table that a read names, after a check of its options; None for a read of messages. */
  def of(options: RawOptions): Option[MetadataView] = MetadataOptions.table(options).flatMap { name =>
    val checked = MetadataOptions(name, options)
    val view    = find(name)
    view.foreach(_.check(checked))
    view
  }
}
