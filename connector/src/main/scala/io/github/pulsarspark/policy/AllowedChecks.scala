package io.github.pulsarspark.policy

/** The one check of options that switch checks of certificates off. */
private[pulsarspark] object AllowedChecks {

  /** Fails unless the policy leaves it to users. */
  def checkInsecure(option: String): Unit = Policy.now().foreach(checkInsecure(_, option))

  private[policy] def checkInsecure(policy: Policy, option: String): Unit =
    if (!policy.insecure)
      throw Refused(option, "connections whose certificates are not checked", PolicyKeys.Insecure)
}
