package io.github.pulsarspark.catalog

/** Policies of a topic that a statement sets or unsets. Pure.
  *
  * @param values
  *   the new value of each property; None = it is unset
  */
private[catalog] final case class PolicyChanges(values: Map[PolicyProperty, Option[Long]] = Map.empty) {

  /** Names of the policies to change, in the order of their list. */
  def policies: Seq[String] = PolicyProperty.policies.filter(p => values.keys.exists(_.policy == p))

  /** The part that is about one policy. */
  def of(policy: String): PolicyChanges = PolicyChanges(values.filter(_._1.policy == policy))

  /** The values of a policy after the change; none = that of the namespace holds again. What nobody has set of a policy
    * with several values limits nothing, or is 0 beside a 0, as brokers require it. A policy whose last limit is unset
    * goes as a whole.
    */
  def changed(policy: String, present: Map[PolicyProperty, Long]): Map[PolicyProperty, Long] = {
    val properties = PolicyProperty.all.filter(_.policy == policy)
    val set        = properties.flatMap(p => values.getOrElse(p, present.get(p)).map(p -> _)).toMap
    val isUnset    = properties.exists(values.get(_).contains(None))
    if (isUnset && set.values.forall(_ == PolicyProperty.Infinite)) Map.empty
    else {
      val others = if (set.values.exists(_ == 0)) 0L else PolicyProperty.Infinite
      properties.map(p => p -> set.getOrElse(p, others)).toMap
    }
  }

  override def toString: String = PolicyProperty.all.filter(values.contains).mkString(", ")

  def +(property: PolicyProperty, value: Option[Long]): PolicyChanges = PolicyChanges(values + (property -> value))
}
