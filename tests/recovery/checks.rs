//! What is tested.

use libtest_mimic::Trial;

use crate::asking::{
    a_balancing_step_when_it_is_asked_for, a_checkpoint_when_it_is_asked_for, a_loss_right_after_a_release,
    copies_on_one_host_are_mapped, nodes_are_released, what_cannot_be_asked,
    what_was_asked_for_goes_when_the_job_has_ended, what_was_asked_for_outlives_all_nodes,
};
use crate::browser::chromium;
use crate::buddies::{
    all_nodes_between_two_checkpoints, both_buddies_between_two_checkpoints, both_buddies_of_several_hosts,
    both_buddies_without_the_launcher,
};
use crate::disk::{
    a_whole_job_is_started_again, both_buddies_on_disk, damaged_files_are_named_and_nothing_is_overwritten,
    examples_are_started_again, folders_that_cannot_be_used, interrupts_while_a_job_is_started_again,
    it_can_be_started_again_more_than_once, lost_nodes_come_back, more_nodes_than_before,
    nodegroups_on_other_pes_than_before, on_disk_like_in_memory,
};
use crate::early::{
    a_job_that_loses_a_node_before_it_begins_is_started_again,
    a_job_that_loses_nodes_each_time_that_it_starts_ends,
};
use crate::faults::{a_process_that_aborts_in_the_same_round_each_time, a_process_that_has_a_fault_once};
use crate::full::{
    a_disk_that_does_not_take_what_is_asked_for, a_disk_that_is_full,
    a_folder_that_cannot_be_written_any_more, disks,
};
use crate::growing::{
    a_job_that_has_grown_is_started_again, lost_at_random_moments_while_nodes_are_added,
    lost_nodes_are_added_again, more_nodes_than_at_the_start, nodes_are_added_during_a_recovery,
    nodes_from_before_are_added, objects_move_to_nodes_that_are_added, released_nodes_are_added_again,
    spares_are_added, spares_are_added_to_those_of_the_start,
};
use crate::hosts::{
    a_host_that_is_lost_before_the_program_begins, a_host_that_was_stopped_does_no_harm_when_it_goes_on,
    a_job_on_several_hosts_without_its_launcher_is_asked,
    a_launcher_of_several_hosts_that_is_stopped_is_fenced,
    a_spare_is_added_on_several_hosts_without_the_launcher,
    both_buddies_of_several_hosts_without_the_launcher, crowds_at_the_doors_of_agents_without_the_launcher,
    nodes_are_added_on_several_hosts_without_the_launcher,
    nodes_of_several_hosts_are_replaced_without_the_launcher, one_host_after_another,
    one_successor_after_another, other_ends_of_several_hosts_without_the_launcher,
    replaced_nodes_are_found_where_they_are_without_the_launcher,
    spares_of_several_hosts_without_the_launcher, the_launcher_of_several_hosts,
    the_launcher_of_several_hosts_and_more_at_random_moments,
    the_launcher_of_several_hosts_at_the_start_and_at_the_end,
    the_launcher_of_several_hosts_before_the_program_begins, the_launcher_of_several_hosts_during_a_recovery,
    the_launcher_of_several_hosts_with_encryption, the_launcher_with_its_whole_host,
};
use crate::joining::{
    a_killed_node_is_replaced, losses_by_chaos_are_replaced, more_losses_than_nodes,
    nobody_waits_for_what_cannot_be, options_without_sense, replaced_at_random_moments,
    several_are_replaced_at_once, spares_take_the_places_of_lost_nodes,
};
use crate::kills::{
    before_the_first_checkpoint_the_program_begins_anew, connections_that_break_meanwhile, during_a_recovery,
    during_checkpoints, examples_at_a_step, nobody_is_lost, one_after_another_until_one_is_left,
    other_ends_are_as_ever, two_at_once, what_the_book_shows, whoever_is_lost_at_a_step, whom_chaos_hits,
    without_a_word_on_checkpoints,
};
use crate::launcher::{
    a_job_without_its_launcher_is_asked, nodes_and_launchers_that_are_stopped_are_fenced,
    nodes_are_replaced_without_the_launcher, nothing_is_left_where_a_launcher_listened,
    one_leader_after_another, other_losses_and_ends_without_the_launcher, spares_without_the_launcher,
    the_launcher_and_the_first_node_at_once, the_launcher_before_the_first_checkpoint,
    the_launcher_between_two_checkpoints, the_launcher_during_a_recovery,
    the_launcher_of_a_job_with_a_node_that_is_stopped, the_launcher_of_other_programs_and_on_disk,
    the_report_is_that_of_the_whole_job,
};
use crate::logged::{
    a_checkpoint_of_a_job_that_logs_when_it_is_asked_for, a_job_goes_on_with_logging,
    a_job_that_logs_is_started_again, a_job_that_logs_is_started_again_more_than_once,
    nothing_is_left_of_a_job_that_logs_and_ends,
};
use crate::membership::{
    members_are_the_same_whenever_nodes_are_killed, members_are_the_same_whoever_is_lost_at_a_step,
};
use crate::moments::random_moments;
use crate::page::{the_page_in_a_browser, the_page_of_a_job_that_logs};
use crate::printing::{
    what_a_launcher_was_printing_is_printed_once, what_goes_to_a_file_is_there_once,
    what_is_printed_where_files_are_short,
};
use crate::refused::{
    a_job_goes_on_from_before_a_checkpoint_that_was_refused, a_loss_before_a_checkpoint_is_refused,
};
use crate::reports::{
    a_job_with_two_losses_tells_all_of_them, each_checkpoint_is_told_on_a_terminal,
    losses_without_replacement, one_node_holds_nothing_twice, why_there_were_checkpoints,
};
use crate::searches::{searches_go_back_to_checkpoints, the_search_with_heirs_goes_back};
use crate::seen::{
    a_job_on_a_terminal, a_job_that_loses_a_node, a_page_is_told_as_long_as_it_is_open,
    jobs_that_are_not_there, strangers_at_the_page, the_page_of_several_hosts_without_the_launcher,
    whoever_leads_next_serves_the_page_again,
};
use crate::spread::{
    a_host_with_all_its_nodes_is_lost_of_a_job_that_logs, hosts_are_lost_one_after_the_other,
    nodes_are_added_beside_a_spare_of_another_host, nodes_are_added_during_a_recovery_of_several_hosts,
    nodes_are_added_on_another_host, spares_on_another_host,
};
use crate::standby::{
    a_job_that_is_to_end_is_not_started_again, a_job_whose_launchers_are_lost_each_time_that_it_starts_ends,
    a_launcher_that_is_lost_before_the_program_begins_is_replaced,
    nobody_stands_by_once_the_program_has_begun, the_launcher_at_any_moment_of_its_start,
};
use crate::stops::{
    a_node_that_computes_is_waited_for_and_named, a_node_that_is_stopped_is_fenced,
    who_is_stopped_for_a_while_is_not_lost,
};
use crate::strangers::{
    a_folder_of_a_running_job_is_not_gone_on_from, checkpoints_are_for_nobody_else, checkpoints_with_a_key,
    crowds_at_the_doors_of_nodes_without_their_launcher, doors_are_for_nobody_else,
    files_of_other_users_are_not_gone_on_from, folders_of_other_users_are_refused,
    folders_that_lead_elsewhere_are_refused, other_users_cannot_reach_nodes, root,
};
use crate::system::rights;
use crate::trials::one;

macro_rules! trials {
    ($($name:ident $(needs $need:path)?),+ $(,)?) => {
        /// All tests.
        pub fn all() -> Vec<Trial> {
            vec![$(one!(stringify!($name), $name $(needs $need)?)),+]
        }
    };
}

trials!(
    other_users_cannot_reach_nodes needs root,
    crowds_at_the_doors_of_nodes_without_their_launcher,
    crowds_at_the_doors_of_agents_without_the_launcher,
    checkpoints_are_for_nobody_else,
    checkpoints_with_a_key,
    folders_of_other_users_are_refused needs root,
    files_of_other_users_are_not_gone_on_from needs root,
    doors_are_for_nobody_else,
    folders_that_lead_elsewhere_are_refused,
    a_folder_of_a_running_job_is_not_gone_on_from,
    what_is_printed_where_files_are_short,
    what_a_launcher_was_printing_is_printed_once,
    what_goes_to_a_file_is_there_once,
    a_job_that_loses_a_node,
    a_page_is_told_as_long_as_it_is_open,
    strangers_at_the_page,
    the_page_in_a_browser needs chromium,
    the_page_of_a_job_that_logs needs chromium,
    the_page_of_several_hosts_without_the_launcher,
    whoever_leads_next_serves_the_page_again,
    a_job_on_a_terminal,
    jobs_that_are_not_there,
    nobody_is_lost,
    a_job_that_loses_a_node_before_it_begins_is_started_again,
    a_job_that_loses_nodes_each_time_that_it_starts_ends,
    a_host_that_is_lost_before_the_program_begins,
    before_the_first_checkpoint_the_program_begins_anew,
    whoever_is_lost_at_a_step,
    examples_at_a_step,
    what_the_book_shows,
    without_a_word_on_checkpoints,
    whom_chaos_hits,
    two_at_once,
    one_after_another_until_one_is_left,
    during_checkpoints,
    during_a_recovery,
    all_nodes_between_two_checkpoints,
    both_buddies_between_two_checkpoints,
    both_buddies_without_the_launcher,
    both_buddies_of_several_hosts,
    both_buddies_of_several_hosts_without_the_launcher,
    a_node_that_is_stopped_is_fenced,
    a_node_that_computes_is_waited_for_and_named,
    who_is_stopped_for_a_while_is_not_lost,
    connections_that_break_meanwhile needs rights,
    other_ends_are_as_ever,
    random_moments,
    members_are_the_same_whoever_is_lost_at_a_step,
    members_are_the_same_whenever_nodes_are_killed,
    a_loss_before_a_checkpoint_is_refused,
    a_job_goes_on_from_before_a_checkpoint_that_was_refused,
    searches_go_back_to_checkpoints,
    the_search_with_heirs_goes_back,
    a_job_with_two_losses_tells_all_of_them,
    losses_without_replacement,
    one_node_holds_nothing_twice,
    why_there_were_checkpoints,
    each_checkpoint_is_told_on_a_terminal,
    on_disk_like_in_memory,
    a_whole_job_is_started_again,
    more_nodes_than_before,
    nodegroups_on_other_pes_than_before,
    lost_nodes_come_back,
    it_can_be_started_again_more_than_once,
    interrupts_while_a_job_is_started_again,
    examples_are_started_again,
    damaged_files_are_named_and_nothing_is_overwritten,
    both_buddies_on_disk,
    folders_that_cannot_be_used,
    a_job_that_logs_is_started_again,
    a_job_goes_on_with_logging,
    a_job_that_logs_is_started_again_more_than_once,
    a_checkpoint_of_a_job_that_logs_when_it_is_asked_for,
    nothing_is_left_of_a_job_that_logs_and_ends,
    a_disk_that_is_full needs disks,
    a_folder_that_cannot_be_written_any_more needs disks,
    a_disk_that_does_not_take_what_is_asked_for needs disks,
    a_killed_node_is_replaced,
    several_are_replaced_at_once,
    more_losses_than_nodes,
    losses_by_chaos_are_replaced,
    spares_take_the_places_of_lost_nodes,
    nobody_waits_for_what_cannot_be,
    replaced_at_random_moments,
    options_without_sense,
    a_balancing_step_when_it_is_asked_for,
    a_checkpoint_when_it_is_asked_for,
    what_was_asked_for_outlives_all_nodes,
    what_was_asked_for_goes_when_the_job_has_ended,
    copies_on_one_host_are_mapped,
    nodes_are_released,
    a_loss_right_after_a_release,
    what_cannot_be_asked,
    released_nodes_are_added_again,
    lost_nodes_are_added_again,
    objects_move_to_nodes_that_are_added,
    spares_are_added,
    spares_are_added_to_those_of_the_start,
    more_nodes_than_at_the_start,
    nodes_from_before_are_added,
    a_job_that_has_grown_is_started_again,
    lost_at_random_moments_while_nodes_are_added,
    hosts_are_lost_one_after_the_other,
    a_host_with_all_its_nodes_is_lost_of_a_job_that_logs,
    a_process_that_aborts_in_the_same_round_each_time,
    a_process_that_has_a_fault_once,
    spares_on_another_host,
    nodes_are_added_on_another_host,
    nodes_are_added_during_a_recovery,
    nodes_are_added_beside_a_spare_of_another_host,
    nodes_are_added_during_a_recovery_of_several_hosts,
    nodes_are_added_on_several_hosts_without_the_launcher,
    a_spare_is_added_on_several_hosts_without_the_launcher,
    replaced_nodes_are_found_where_they_are_without_the_launcher,
    the_launcher_between_two_checkpoints,
    the_launcher_before_the_first_checkpoint,
    the_launcher_and_the_first_node_at_once,
    nothing_is_left_where_a_launcher_listened,
    one_leader_after_another,
    the_launcher_during_a_recovery,
    nodes_and_launchers_that_are_stopped_are_fenced,
    the_launcher_of_a_job_with_a_node_that_is_stopped,
    other_losses_and_ends_without_the_launcher,
    the_launcher_of_other_programs_and_on_disk,
    the_report_is_that_of_the_whole_job,
    nodes_are_replaced_without_the_launcher,
    spares_without_the_launcher,
    a_job_without_its_launcher_is_asked,
    the_launcher_of_several_hosts,
    the_launcher_of_several_hosts_with_encryption,
    one_successor_after_another,
    the_launcher_with_its_whole_host,
    one_host_after_another,
    the_launcher_of_several_hosts_during_a_recovery,
    a_launcher_of_several_hosts_that_is_stopped_is_fenced,
    a_host_that_was_stopped_does_no_harm_when_it_goes_on,
    nodes_of_several_hosts_are_replaced_without_the_launcher,
    spares_of_several_hosts_without_the_launcher,
    a_job_on_several_hosts_without_its_launcher_is_asked,
    other_ends_of_several_hosts_without_the_launcher,
    the_launcher_of_several_hosts_and_more_at_random_moments,
    the_launcher_of_several_hosts_at_the_start_and_at_the_end,
    a_launcher_that_is_lost_before_the_program_begins_is_replaced,
    a_job_whose_launchers_are_lost_each_time_that_it_starts_ends,
    a_job_that_is_to_end_is_not_started_again,
    nobody_stands_by_once_the_program_has_begun,
    the_launcher_at_any_moment_of_its_start,
    the_launcher_of_several_hosts_before_the_program_begins,
);
