package io.github.pulsarspark.inspect

import io.github.pulsarspark.inspect.doctor.DoctorView
import io.github.pulsarspark.inspect.reads.{LagView, PlanView, PositionsView, RealTimePlanView}
import io.github.pulsarspark.inspect.state.{CheckpointView, SinkView, SinksView}
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
    RealTimePlanView,
    LagView,
    CheckpointView,
    SinksView,
    SinkView,
    DoctorView
  )

  def find(name: String): Option[MetadataView] = all.find(_.name.equalsIgnoreCase(name.trim))

  /** The table that a read names, after a check of its options; None for a read of messages. */
  def of(options: RawOptions): Option[MetadataView] = MetadataOptions.table(options).map(checked(_, options)._1)

  /** A table with its options: each is known, has an effect, and nothing that the rows need is missing. Sends no
    * request.
    */
  def checked(name: String, options: RawOptions): (MetadataView, MetadataOptions) = {
    val result = MetadataOptions(name, options) // fails if there is no such table
    val view   = find(name).get
    view.takes.check(view.name, options)
    view.check(result)
    (view, result)
  }
}
